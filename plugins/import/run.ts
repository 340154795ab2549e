/** Runs the command: reads the other gateway, takes over its users and keys, and writes files and the report. */
import { accessSync, appendFileSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { type CommandRequest, type Host, UsageError } from '../../core/plugin.ts';
import { gatewayFiles, writeNew } from './gateway-file.ts';
import type { Inventory } from './inventory.ts';
import { differencesOf } from './list-prices.ts';
import { readConfig } from './litellm/config.ts';
import { readDatabase } from './litellm/database.ts';
import { readOneApi } from './one-api/index.ts';
import { report } from './report.ts';
import { takeOver } from './take-over.ts';

/** The gateways that can be imported. One family shares the identifiers of users and groups. */
const FAMILIES = { litellm: 'litellm', 'new-api': 'one-api', 'one-api': 'one-api' } as const;
type Kind = keyof typeof FAMILIES;

/** Returns the report. Throws `UsageError`. */
export async function run(host: Host, { positionals, values, stdin, cwd }: CommandRequest): Promise<string> {
  const [kind = '', source = ''] = positionals;
  if (!isKind(kind)) throw new UsageError(`KIND must be litellm, new-api or one-api, not "${kind}"`);
  // A URL with a password would be in the process list and the shell's history.
  const [url = '', saltKey] = stdin.split(/\r?\n/).map((line) => line.trim());
  const address = source === '-' ? url : source;
  if (address === '') throw new UsageError('standard input must have the URL of the database');
  const isDry = values['dry-run'] === true;
  const inventory = await read(
    kind,
    isUrl(address) ? address : resolve(cwd, address),
    host.use(Ledger).perUnit,
    saltKey || undefined,
  );
  const folder = resolve(cwd, typeof values.out === 'string' ? values.out : '.');
  // What is handed out cannot be shown again, so the import does not begin if it could not be written.
  if (!isDry) accessSync(folder, constants.W_OK);
  const handouts = resolve(folder, `${kind}.handouts.${host.clock.now()}.tsv`);
  const takeover = await takeOver(host, inventory, {
    kind,
    family: FAMILIES[kind],
    isDry,
    handOut: ({ account, email = '', what, secret }) =>
      appendFileSync(handouts, `${[account, email, what, secret].join('\t')}\n`, { mode: 0o600 }),
  });

  const written: string[] = [];
  const write = (name: string, text: string): void => {
    if (text === '') return;
    const file = resolve(folder, name);
    const result = isDry ? 'would be written' : writeNew(file, text);
    if (result === 'kept')
      written.push(`${file} exists with other content and was not written: move it away, or choose --out`);
    else written.push(`${file}: ${result === 'same' ? 'unchanged' : result}`);
  };
  const files = gatewayFiles(kind, inventory);
  if (files !== undefined) {
    write(`${kind}.gateway.yaml`, files.yaml);
    write(`${kind}.gateway.env`, files.env);
  }
  if (takeover.handouts.length > 0) written.push(`${handouts}: written`);
  const prices = host.find(Prices);
  return report({ inventory, takeover, written, differences: prices ? differencesOf(inventory, prices) : [], isDry });
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(FAMILIES, kind);
}

function isUrl(address: string): boolean {
  return /^[a-z0-9+]+:\/\//i.test(address) || address.includes('@tcp(');
}

async function read(kind: Kind, address: string, perUnit: number, saltKey: string | undefined): Promise<Inventory> {
  if (kind !== 'litellm') return readOneApi(kind, address, perUnit);
  return /\.ya?ml$/i.test(address) ? readConfig(address) : readDatabase(address, perUnit, saltKey);
}
