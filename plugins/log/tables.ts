/** The tables of the log: records of calls, account events, and hourly and daily sums. */
import type { Migration } from '../../core/plugin.ts';
import { DETAIL_COLUMNS, OUTCOME_COLUMNS, recordTables } from './record-tables.ts';

/** The lengths of the sums' periods, in milliseconds. */
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The SQL condition for records of the kind `error`; see `LogKind`. */
export const IS_ERROR = "outcome IN ('refused', 'failed') AND charged = 0";

/** The SQL condition for records of calls, not of other requests. */
export const IS_CALL = "route = ''";

/** The columns of the tables of sums. */
const SUM_COLUMNS = `(
    begin_ms INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    channel TEXT NOT NULL,
    department_id INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    PRIMARY KEY (begin_ms, account_id, kind, key_id, model, channel, department_id)
  ) STRICT, WITHOUT ROWID`;

/** Columns of the tables of calls up to migration 7. */
const CALL_COLUMNS = `key_id INTEGER NOT NULL,
        ${OUTCOME_COLUMNS.join(',\n        ')},
        input INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        cache_write_long INTEGER,
        input_audio INTEGER,
        output INTEGER,
        reasoning INTEGER,
        output_audio INTEGER,
        estimated INTEGER CHECK (estimated IN (0, 1)),`;
const END_COLUMNS = `charged INTEGER NOT NULL CHECK (charged >= 0),
        duration_ms INTEGER NOT NULL,
        first_byte_ms INTEGER,
        ip TEXT NOT NULL,
        other TEXT NOT NULL`;

/** The columns of calls, and those that only some calls have. */
const OF_CALLS = `key_id, style, model, channel, stream, outcome, status, input, cache_read, cache_write, cache_write_long,
  input_audio, output, reasoning, output_audio, estimated, input_image, output_image, characters, seconds, images, image_size,
  image_quality, charged, duration_ms, first_byte_ms, ip, other`;

/**
 * `usage_record`: one row per call; a view, see `record-tables.ts`. Up to migration 7 it was a table, also in the order of time.
 * Measured: in the order of accounts, each call costs the writing thread a fifth more, and reading all accounts takes five times as long.
 *
 * `account_event`: events of an account that are not calls.
 *
 * `usage_hour`: the number of lines of each kind (`kinds.ts`) that began in an hour, and their sums. It is written in the same list as the
 * line, so it is exact at every commit. It also serves as an index by all columns that pages filter by: it shows which hours have matching lines, and
 * how many. Hours come first in its key, so that concurrent calls write to the same few pages.
 *
 * `usage_day`: the same by days (UTC) for statistics, kept after records and hours are deleted. Ended hours are added to it one by one;
 * `usage_rolled` has the last rolled-up hour. A call that is written later (it ran long, or was recovered) is added to the day as well, in the same
 * list: days are as exact as hours. Sums of the kind `imported` are written to the day at once (`imported.ts`). For errors that never reached a channel the model is left out, because clients can invent any number of names.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'usage records',
    sql: [
      `CREATE TABLE usage_record (
        account_id INTEGER NOT NULL,
        id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        ${CALL_COLUMNS}
        ${END_COLUMNS},
        PRIMARY KEY (account_id, id)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
  {
    id: 2,
    title: 'tokens of images, and what is not counted in tokens',
    sql: DETAIL_COLUMNS.map((column) => `ALTER TABLE usage_record ADD COLUMN ${column}`),
  },
  {
    id: 3,
    title: 'records in the order of time, events of accounts, sums by the hour and by the day',
    sql: [
      'ALTER TABLE usage_record RENAME TO usage_record_by_account',
      `CREATE TABLE usage_record (
        id TEXT NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        department_id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        ${CALL_COLUMNS}
        ${DETAIL_COLUMNS.join(',\n        ')},
        ${END_COLUMNS}
      ) STRICT`,
      `INSERT INTO usage_record (id, account_id, department_id, at_ms, ${OF_CALLS})
        SELECT id, account_id, 0, at_ms, ${OF_CALLS} FROM usage_record_by_account ORDER BY id`,
      'DROP TABLE usage_record_by_account',
      'CREATE INDEX usage_record_of_account ON usage_record (account_id, id)',
      `CREATE TABLE account_event (
        id TEXT NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('top-up', 'manage', 'system', 'refund', 'login')),
        amount INTEGER NOT NULL,
        text TEXT NOT NULL,
        ip TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX account_event_of_account ON account_event (account_id, id)',
      `CREATE TABLE usage_hour ${SUM_COLUMNS}`,
      `CREATE TABLE usage_day ${SUM_COLUMNS}`,
      'CREATE TABLE usage_rolled (until_ms INTEGER NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID',
      'INSERT INTO usage_rolled (until_ms) VALUES (0)',
      `INSERT INTO usage_hour (begin_ms, account_id, kind, key_id, model, channel, department_id, lines, amount, input, output)
        SELECT at_ms / ${HOUR_MS} * ${HOUR_MS}, account_id, CASE WHEN ${IS_ERROR} THEN 'error' ELSE 'use' END,
          key_id, model, channel, 0, COUNT(*), SUM(charged), SUM(COALESCE(input, 0)), SUM(COALESCE(output, 0))
        FROM usage_record GROUP BY 1, 2, 3, 4, 5, 6`,
    ],
  },
  {
    id: 4,
    title: 'amounts included in subscriptions',
    sql: [
      'ALTER TABLE usage_record ADD COLUMN included INTEGER NOT NULL DEFAULT 0 CHECK (included IN (0, 1))',
      'ALTER TABLE usage_hour ADD COLUMN included INTEGER NOT NULL DEFAULT 0',
      'ALTER TABLE usage_day ADD COLUMN included INTEGER NOT NULL DEFAULT 0',
    ],
  },
  {
    id: 5,
    title: 'records that stand for more than one request, and for requests that are not calls',
    sql: [
      'ALTER TABLE usage_record ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0',
      "ALTER TABLE usage_record ADD COLUMN route TEXT NOT NULL DEFAULT ''",
      'ALTER TABLE usage_hour ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0',
      'ALTER TABLE usage_day ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0',
    ],
  },
  {
    id: 6,
    title: 'sums by how calls ended',
    sql: [
      // Calls that were neither served nor refused for free get their own rows, and are subtracted from those of `use` and `error`.
      `INSERT INTO usage_hour (begin_ms, account_id, kind, key_id, model, channel, department_id, lines, amount, included, input,
          output, repeats)
        SELECT at_ms / ${HOUR_MS} * ${HOUR_MS}, account_id, CASE WHEN outcome IN ('aborted', 'recovered') THEN outcome
            WHEN charged = 0 THEN 'failed' ELSE outcome || '-paid' END,
          key_id, model, channel, department_id, COUNT(*), SUM(charged), SUM(CASE included WHEN 1 THEN charged ELSE 0 END),
          SUM(COALESCE(input, 0)), SUM(COALESCE(output, 0)), SUM(repeats)
        FROM usage_record
        WHERE route = '' AND outcome <> 'served' AND NOT (outcome = 'refused' AND charged = 0)
        GROUP BY 1, 2, 3, 4, 5, 6, 7`,
      `UPDATE usage_hour SET lines = usage_hour.lines - finer.lines, amount = usage_hour.amount - finer.amount,
          included = usage_hour.included - finer.included, input = usage_hour.input - finer.input,
          output = usage_hour.output - finer.output, repeats = usage_hour.repeats - finer.repeats
        FROM (
          SELECT begin_ms, account_id, CASE kind WHEN 'failed' THEN 'error' ELSE 'use' END AS kind, key_id, model, channel,
            department_id, SUM(lines) AS lines, SUM(amount) AS amount, SUM(included) AS included, SUM(input) AS input,
            SUM(output) AS output, SUM(repeats) AS repeats
          FROM usage_hour WHERE kind IN ('failed', 'aborted', 'recovered', 'failed-paid', 'refused-paid')
          GROUP BY 1, 2, 3, 4, 5, 6, 7
        ) AS finer
        WHERE usage_hour.begin_ms = finer.begin_ms AND usage_hour.account_id = finer.account_id AND usage_hour.kind = finer.kind
          AND usage_hour.key_id = finer.key_id AND usage_hour.model = finer.model AND usage_hour.channel = finer.channel
          AND usage_hour.department_id = finer.department_id`,
      "DELETE FROM usage_hour WHERE kind IN ('use', 'error') AND lines <= 0 AND repeats <= 0",
    ],
  },
  {
    id: 7,
    title: 'tools that vendors ran, and how calls were served',
    sql: ['ALTER TABLE usage_record ADD COLUMN uses TEXT', 'ALTER TABLE usage_record ADD COLUMN service TEXT'],
  },
  recordTables,
  {
    id: 9,
    title: 'sums by tag',
    sql: [
      `CREATE TABLE usage_tag (
        begin_ms INTEGER NOT NULL,
        tag TEXT NOT NULL,
        account_id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        key_id INTEGER NOT NULL,
        model TEXT NOT NULL,
        channel TEXT NOT NULL,
        department_id INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        repeats INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        included INTEGER NOT NULL,
        input INTEGER NOT NULL,
        output INTEGER NOT NULL,
        PRIMARY KEY (begin_ms, tag, account_id, kind, key_id, model, channel, department_id)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
];
