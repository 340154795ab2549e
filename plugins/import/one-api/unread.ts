/** What is in the database and is not taken over: tables and columns by name, so that nothing of a version that this import does not know is lost silently. */
import type { Cells } from '../cells.ts';
import type { Database } from '../databases.ts';
import type { Note } from '../inventory.ts';
import type { Row } from '../values.ts';

/** Why tables are not read. Those of `models` of new-api 0.6.3 to 0.10, one-api 0.6.10 and one-hub. */
const TABLES: Readonly<Record<string, string>> = {
  abilities: 'it is made from the channels',
  channel_tags: 'channels here have no tags',
  checkins: 'there are no daily rewards here',
  logs: 'usage is taken over as daily sums, with --history',
  midjourneys: 'tasks for images are not supported here',
  migrations: 'the state of the database of the program itself',
  model_info: 'facts about models are known here',
  model_owned_by: 'facts about models are known here',
  models: 'facts about models are known here',
  prefill_groups: 'lists of models to choose from in its console',
  quota_data: 'sums of the usage records, which --history reads',
  setups: 'the version that was installed first',
  sqlite_sequence: 'counters of the database itself',
  statistics: 'sums of the usage records, which --history reads',
  statistics_months: 'sums of the usage records, which --history reads',
  tasks: 'tasks for music and video are not supported here',
  telegram_menus: 'there is no bot here',
  vendors: 'facts about models are known here',
};

/** A note for each table with rows that no code has read until now. */
export async function tableNotes(database: Database): Promise<readonly Note[]> {
  return [...(await database.unread())].map(([table, count]) => ({
    kind: 'left',
    where: table,
    what: `table ${table}`,
    why: TABLES[table] ?? 'this import does not know it',
    count,
  }));
}

/** The columns that are read, or are not needed: times, counters and caches of the program. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  users: [
    ...['id', 'username', 'password', 'display_name', 'role', 'status', 'email', 'access_token', 'quota', 'used_quota'],
    ...[
      'request_count',
      'group',
      'aff_code',
      'aff_count',
      'aff_quota',
      'aff_history',
      'inviter_id',
      'deleted_at',
      'remark',
    ],
    ...[
      'github_id',
      'github_id_new',
      'oidc_id',
      'wechat_id',
      'telegram_id',
      'lark_id',
      'linux_do_id',
      'discord_id',
      'setting',
    ],
    ...['created_at', 'created_time', 'last_login_at', 'last_login_time', 'last_login_ip', 'stripe_customer'],
  ],
  tokens: [
    ...['id', 'user_id', 'key', 'status', 'name', 'created_time', 'accessed_time', 'expired_time', 'remain_quota'],
    ...[
      'unlimited_quota',
      'model_limits_enabled',
      'model_limits',
      'models',
      'allow_ips',
      'subnet',
      'used_quota',
      'group',
    ],
    ...['deleted_at', 'cross_group_retry', 'backup_group', 'setting'],
  ],
  channels: [
    ...['id', 'type', 'key', 'open_ai_organization', 'openai_organization', 'test_model', 'status', 'name', 'weight'],
    ...['created_time', 'test_time', 'response_time', 'base_url', 'other', 'balance', 'balance_updated_time', 'models'],
    ...[
      'group',
      'used_quota',
      'model_mapping',
      'status_code_mapping',
      'priority',
      'auto_ban',
      'other_info',
      'tag',
      'setting',
    ],
    ...[
      'param_override',
      'channel_info',
      'settings',
      'header_override',
      'remark',
      'config',
      'system_prompt',
      'deleted_at',
    ],
    ...[
      'model_headers',
      'custom_parameter',
      'proxy',
      'only_chat',
      'pre_cost',
      'compatible_response',
      'allow_extra_body',
    ],
    ...['disabled_stream', 'plugin'],
  ],
};

/** A note for each column with content that this import does not know. */
export function unreadColumns(tables: Readonly<Record<string, readonly Row[]>>): readonly Note[] {
  return Object.entries(tables).flatMap(([table, rows]) => {
    const known = new Set(COLUMNS[table]);
    const unknown = new Set(
      rows.flatMap((row) => Object.keys(row).filter((column) => !known.has(column) && hasContent(row[column]))),
    );
    return [...unknown].map((column): Note => {
      const count = rows.filter((row) => hasContent(row[column])).length;
      return {
        kind: 'left',
        where: `${table}.${column}`,
        what: `column ${column}`,
        why: 'this import does not know it',
        count,
      };
    });
  });
}

const EMPTY_VALUES: readonly unknown[] = [null, undefined, '', 0, '0', false, '{}', '[]', 'null'];
const hasContent = (value: unknown): boolean => !EMPTY_VALUES.includes(value);

/** Columns of users that have no place here. */
const OF_USERS: readonly (readonly [column: string, what: string, why: string])[] = [
  ['used_quota', 'earlier spending', 'usage is taken over as daily sums, with --history'],
  ['stripe_customer', 'customers of Stripe', 'Stripe knows them by their email address'],
];

/** A note for each of them that some users have. */
export function userNotes(users: readonly Cells[]): readonly Note[] {
  return OF_USERS.flatMap(([column, what, why]) => {
    const count = users.filter(({ row }) => hasContent(row[column]) && Number(row[column]) !== 0).length;
    return count === 0 ? [] : [{ kind: 'left' as const, where: `users.${column}`, what, why, count }];
  });
}
