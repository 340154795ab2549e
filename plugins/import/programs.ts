/**
 * Recognises the program that a database belongs to, by its tables and columns: forks of one-api reuse numbers with other meanings, so that the
 * secret of one vendor would be sent to another. Facts: the schemas of songquanpeng/one-api 0.6.10 (`model/`), QuantumNous/new-api 0.2 to 0.11
 * (`model/main.go`), MartialBE/one-hub 0.14 (`model/`), BerriAI/litellm 1.30 to 1.110 (`schema.prisma`), November 2026.
 */
import { UsageError } from '../../core/plugin.ts';
import type { Database } from './databases.ts';
import type { Program } from './inventory.ts';
import { textOf } from './values.ts';

/** What every database of one-api and of its forks must have to be read. */
const FAMILY: Readonly<Record<string, readonly string[]>> = {
  users: ['id', 'username', 'role', 'status', 'quota'],
  tokens: ['id', 'user_id', 'key', 'status', 'name', 'expired_time', 'remain_quota', 'unlimited_quota'],
  channels: ['id', 'type', 'key', 'status', 'name', 'models'],
};
const LITELLM = 'LiteLLM_VerificationToken';
/** Columns of `channels` that one-api never had: of one-hub before it had the table `prices`, and of other forks. */
const OF_FORKS = ['proxy', 'test_model', 'only_chat', 'plugin', 'tag', 'setting', 'model_configs', 'ratelimit'];

/** A recognised database. */
export interface Recognised {
  readonly program: Program;
  /** What is known of its version: `set up with v0.6.3`. */
  readonly version?: string | undefined;
}

/** Recognises a database. Throws a sentence that says what it lacks. `wanted`: the program it should be; undefined: any. */
export async function recognise(database: Database, wanted: Program | undefined): Promise<Recognised> {
  const found = await programOf(database, wanted);
  if (wanted !== undefined && found.program !== wanted)
    throw new UsageError(
      `this is a database of ${found.program}, not of ${wanted}: import it with \`turnpike import ${found.program}\``,
    );
  return found;
}

async function programOf(database: Database, wanted: Program | undefined): Promise<Recognised> {
  if ((await database.columns(LITELLM)).length > 0)
    return { program: 'litellm', version: await liteLlmVersion(database) };
  const not = `this is not a database of ${wanted ?? 'litellm, new-api, one-api or one-hub'}`;
  if (wanted === 'litellm' && (await database.columns('tokens')).length === 0)
    throw new Error(`${not}: it does not have the table ${LITELLM}`);
  const missing: string[] = [];
  for (const table of Object.keys(FAMILY)) if ((await database.columns(table)).length === 0) missing.push(table);
  if (missing.length > 0) {
    const tables = missing.length === 1 ? `the table ${missing[0]}` : `the tables ${listed(missing)}`;
    throw new Error(`${not}: it does not have ${tables}`);
  }
  for (const [table, columns] of Object.entries(FAMILY)) {
    const all = await database.columns(table);
    const lacks = columns.filter((column) => !all.includes(column));
    if (lacks.length > 0)
      throw new Error(
        `this is a database of a program that grew out of one-api and cannot be read: ${table} has no ${lacks.length === 1 ? 'column' : 'columns'} ${listed(lacks)}`,
      );
  }
  const tokens = await database.columns('tokens');
  const has = async (table: string): Promise<boolean> => (await database.columns(table)).length > 0;
  const isNewApi = tokens.includes('model_limits_enabled');
  // Versions before November 2024 have no user_groups.
  const isOneHub = await has('prices');
  if (isNewApi && isOneHub)
    throw new Error(
      'this is a database of a program that cannot be told: it has tokens.model_limits_enabled as new-api, and the table prices as one-hub',
    );
  if (isOneHub) return { program: 'one-hub' };
  if (await has('user_groups'))
    throw new Error(
      'this is a database of a fork of one-hub that cannot be read: it has the table user_groups, but no table prices',
    );
  const channels = await database.columns('channels');
  const ofFork = OF_FORKS.find((column) => channels.includes(column));
  if (!isNewApi && ofFork !== undefined)
    throw new Error(
      `this is a database of a fork of one-api that cannot be read: channels has the column ${ofFork}, which one-api does not have, so its types of channels may have other numbers`,
    );
  if (!isNewApi && (await has('setups')))
    throw new Error(
      'this is a database of a fork of new-api that cannot be read: it has the table setups, but no column model_limits_enabled in tokens',
    );
  return isNewApi ? { program: 'new-api', version: await newApiVersion(database) } : { program: 'one-api' };
}

/** new-api records the version that the site was set up with. */
async function newApiVersion(database: Database): Promise<string | undefined> {
  for await (const row of database.each('setups')) {
    const version = textOf(row, 'version');
    if (version !== undefined) return `set up with ${version}`;
  }
  return undefined;
}

/** The names of LiteLLM's migrations begin with their day. */
async function liteLlmVersion(database: Database): Promise<string | undefined> {
  let last = '';
  for await (const row of database.each('_prisma_migrations')) {
    const name = textOf(row, 'migration_name') ?? '';
    if (/^\d{8}/.test(name) && name > last) last = name;
  }
  if (last === '') return undefined;
  return `its schema is of ${last.slice(0, 4)}-${last.slice(4, 6)}-${last.slice(6, 8)}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
