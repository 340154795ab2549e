/** Runs the command: opens the other gateway, imports it, and writes the report. */
import { resolve } from 'node:path';
import { COMMAND_LINE } from '../../core/contracts/audit.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { type CommandAnswer, type CommandRequest, type Host, UsageError } from '../../core/plugin.ts';
import { readDuration } from '../../core/sdk.ts';
import { isUrl, openDatabase } from './databases.ts';
import { keptFiles, writeLong } from './gateway-file.ts';
import { runImport } from './importing.ts';
import type { Program, Source } from './inventory.ts';
import { liteLlmFile } from './litellm/config.ts';
import { liteLlmSource } from './litellm/database.ts';
import { publishedBy } from './litellm/published.ts';
import { oneApiSource } from './one-api/index.ts';
import { oneHubSource } from './one-hub/index.ts';
import { recognise } from './programs.ts';
import { type Report, reportFile, reportJson, reportText } from './report.ts';
import { summaryLine } from './take-over/summary.ts';

const PROGRAMS: readonly Program[] = ['litellm', 'new-api', 'one-api', 'one-hub'];
/** A program, or `auto`: found out from the database. */
export type Kind = Program | 'auto';

/** How often `--follow` reads the source, and at most. */
const USUAL_PAUSE = '60s';
const MOST_PAUSE_MS = 86_400_000;

/** Returns the report, which is also a file with every line; in a later round of `--follow`, one line. Throws `UsageError`. */
export async function run(host: Host, request: CommandRequest): Promise<CommandAnswer> {
  const { positionals, values, stdin, cwd, round = 0 } = request;
  const [kind = '', from = ''] = positionals;
  if (!isKind(kind))
    throw new UsageError(`KIND must be litellm, new-api, one-api, one-hub, or auto to find out, not "${kind}"`);
  const againMs = followMs(values);
  // A URL with a password would be in the process list and the shell's history.
  const [url = '', saltKey] = stdin.split(/\r?\n/).map((line) => line.trim());
  const address = from === '-' ? url : from;
  if (address === '') throw new UsageError('standard input must have the URL of the database');
  const place = isUrl(address) ? address : resolve(cwd, address);
  const folder = resolve(cwd, typeof values.out === 'string' ? values.out : '.');
  const fileOf = (option: string): string | undefined => {
    const file = values[option];
    return typeof file === 'string' ? resolve(cwd, file) : undefined;
  };
  const source = await openSource(host, kind, place, {
    saltKey: saltKey || undefined,
    configFile: fileOf('litellm-config'),
    costsFile: fileOf('litellm-costs'),
  });
  const { report, takeover } = await runImport(host, {
    source,
    about: withoutPassword(place),
    actor: COMMAND_LINE,
    isDry: values['dry-run'] === true,
    apply: values.apply === true,
    update: values.update === true || againMs !== undefined,
    prove: values.prove === true && round === 0,
    history: values.history === true,
    links: values.links === true && round === 0,
    folder,
  });
  if (round > 0) {
    const at = new Date(report.atMs).toISOString();
    const difference = summaryLine(takeover, [...savedAs(report), ...keptFiles(report.written)]);
    return { text: `${at} ${difference}`, json: { at, difference }, againMs };
  }
  const file = resolve(folder, `${source.program}.report.${report.atMs}.txt`);
  await writeLong(file, reportFile(report));
  const { proof } = report;
  return {
    text: reportText(report, file),
    json: values.json === true ? { ...reportJson(report), report: file } : undefined,
    failed: proof !== undefined && proof.equal < proof.calls,
    againMs,
  };
}

/** The version of the configuration that this import has saved. */
function savedAs({ applied }: Report): readonly string[] {
  return applied?.version === undefined ? [] : [`configuration saved as version ${applied.version}`];
}

function isKind(kind: string): kind is Kind {
  return kind === 'auto' || PROGRAMS.some((program) => program === kind);
}

/** The pause between two rounds; undefined without `--follow`. */
function followMs({ follow, every, 'dry-run': dryRun }: CommandRequest['values']): number | undefined {
  if (follow !== true) {
    if (every !== undefined) throw new UsageError('--every needs --follow');
    return undefined;
  }
  if (dryRun === true) throw new UsageError('--follow cannot be a dry run: use --update --dry-run');
  return readDuration(typeof every === 'string' ? every : USUAL_PAUSE, '--every', MOST_PAUSE_MS);
}

/** The address of a database without user and password; a file as it is. */
export function withoutPassword(address: string): string {
  return isUrl(address) ? address.replace(/^([a-z0-9+]+:\/\/)?.*@/i, '$1').replace(/\?.*$/s, '') : address;
}

/** What belongs to a source. */
interface SourceOptions {
  readonly saltKey: string | undefined;
  /** LiteLLM's config.yaml, and its cost map. */
  readonly configFile?: string | undefined;
  readonly costsFile?: string | undefined;
}

/** Opens a database, or LiteLLM's config.yaml. Refuses a database of another program than `kind`. */
export async function openSource(
  host: Host,
  kind: Kind,
  address: string,
  { saltKey, configFile, costsFile }: SourceOptions,
): Promise<Source> {
  const { perUnit } = host.use(Ledger);
  const prices = host.find(Prices);
  const published = prices && publishedBy(prices);
  if (kind === 'litellm' && /\.ya?ml$/i.test(address)) return liteLlmFile(address, published, costsFile);
  const database = await openDatabase(address);
  try {
    const { program, version } = await recognise(database, kind === 'auto' ? undefined : kind);
    const option =
      configFile !== undefined ? '--litellm-config' : costsFile !== undefined ? '--litellm-costs' : undefined;
    if (option !== undefined && program !== 'litellm')
      throw new UsageError(`${option} is for LiteLLM; this is a database of ${program}`);
    const source =
      program === 'litellm'
        ? liteLlmSource(database, perUnit, saltKey, { configFile, costsFile, published })
        : program === 'one-hub'
          ? oneHubSource(database, perUnit)
          : oneApiSource(program, database, perUnit);
    return { ...source, version };
  } catch (error) {
    await database.close();
    throw error;
  }
}
