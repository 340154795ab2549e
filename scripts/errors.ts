/**
 * Writes the tables of errors of two READMEs from those of core and the plugins. `npm run errors`; `scripts/check-errors.ts` checks that it has been
 * run. The codes and sentences of the console are made from the same tables, by `scripts/console-sources.mjs`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { coreErrors } from '../core/contracts/errors.ts';
import type { ErrorAbout, ErrorPlace, ErrorTable } from '../core/contracts/gateway-error.ts';

/** The pages, and the errors that each of them lists. */
const PAGES: Readonly<Record<string, readonly ErrorPlace[]>> = {
  'plugins/styles/README.md': ['call', 'request'],
  'plugins/console/README.md': ['api'],
};
const BEGIN = '<!-- errors: made by `npm run errors` from the tables of core and the plugins -->';
const END = '<!-- end of errors -->';

/** The errors of core and of all plugins that ship, in the order of their statuses. Throws if two tables have one code. */
export async function allErrors(): Promise<readonly ErrorAbout[]> {
  const tables: ErrorTable[] = [coreErrors];
  for (const plugin of readdirSync('plugins').sort()) {
    if (!existsSync(`plugins/${plugin}/errors.ts`)) continue;
    tables.push(((await import(`../plugins/${plugin}/errors.ts`)) as { readonly errors: ErrorTable }).errors);
  }
  const all = tables.flatMap((table) => Object.values(table).map(({ about }) => about));
  for (const { code } of all)
    if (all.filter((each) => each.code === code).length > 1) throw new Error(`two tables have the error ${code}`);
  return all.sort((a, b) => a.statuses[0]! - b.statuses[0]!);
}

/** The texts of these pages, by their paths. */
export async function made(): Promise<ReadonlyMap<string, string>> {
  const all = await allErrors();
  const files = new Map<string, string>();
  for (const [path, places] of Object.entries(PAGES)) {
    const [before = '', , after = ''] = readFileSync(path, 'utf8').split(new RegExp(`(?<=${BEGIN}\n)([^]*)(?=${END})`));
    files.set(path, `${before}\n${tableOf(all.filter(({ place }) => places.includes(place)))}\n${after}`);
  }
  return files;
}

/** The source of the console that has all codes, and what each means. */
export async function forConsole(): Promise<string> {
  const shown = (await allErrors()).filter(({ place }) => place !== 'command');
  const sentences = Object.fromEntries(shown.map(({ code, help }) => [code, help.replaceAll('`', '')]));
  return `/** The meaning and the remedy of each error, in English. */
export const HELP = ${JSON.stringify(sentences, undefined, 2)} as const;

/** The code of an error. */
export type ErrorCode = keyof typeof HELP;
`;
}

function tableOf(errors: readonly ErrorAbout[]): string {
  const rows = errors.map(({ statuses, code, help }) => `| ${statuses.join(', ')} | \`${code}\` | ${help} |\n`);
  return `| Status | Code | Meaning |\n|---|---|---|\n${rows.join('')}`;
}

if (process.argv[1]?.endsWith('/errors.ts')) for (const [path, text] of await made()) writeFileSync(path, text);
