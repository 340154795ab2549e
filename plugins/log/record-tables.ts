/** The tables of usage records, in which repeated values are stored once. */
import type { Migration } from '../../core/plugin.ts';
import { sqlPlace, sqlRun, sqlStart, sqlTime } from './ids.ts';

/** All notes of a record: the members in its label, its attempt and its row, each after a comma. */
const OTHER = `'{' || substr(usage_label.notes
      || CASE usage_label.attempt WHEN '' THEN ''
        ELSE usage_label.attempt || COALESCE(CAST(usage_row.attempt_ms AS TEXT), 'null') || '}]' END
      || COALESCE(usage_row.notes, ''), 2) || '}'`;

/** Columns of what was called and how it ended. */
export const OUTCOME_COLUMNS = [
  'style TEXT NOT NULL',
  'model TEXT NOT NULL',
  'channel TEXT NOT NULL',
  'stream INTEGER NOT NULL CHECK (stream IN (0, 1))',
  'outcome TEXT NOT NULL',
  'status INTEGER NOT NULL',
] as const;

/** Columns of tokens of images, and of what is not counted in tokens. */
export const DETAIL_COLUMNS = [
  'input_image INTEGER',
  'output_image INTEGER',
  'characters INTEGER',
  'seconds REAL',
  'images INTEGER',
  'image_size TEXT',
  'image_quality TEXT',
] as const;

/** The columns of `usage_detail` that are NULL in most records of older releases, and those that are 0. */
const NULL_OF_OLD = 'input_image, output_image, characters, seconds, images, image_size, image_quality, uses, service';
const ZERO_OF_OLD = 'input_audio, output_audio';
const IS_OF_OTHER_TIME = `substr(old.id, 1, 10) <> ${sqlTime('old.at_ms')}`;

/** The label of an older record. The model of a call that was not served stays in its row: clients can invent names. */
const OLD_LABEL = {
  model: `CASE old.outcome WHEN 'served' THEN old.model ELSE '' END`,
  ...{ channel: 'old.channel', style: 'old.style', outcome: 'old.outcome', status: 'old.status', stream: 'old.stream' },
  ...{ estimated: 'old.estimated', included: 'old.included', route: 'old.route' },
};
const LABEL_COLUMNS = Object.keys(OLD_LABEL).join(', ');
const IS_ITS_LABEL = Object.entries(OLD_LABEL)
  .map(([column, value]) => `usage_label.${column} ${column === 'estimated' ? 'IS NOT DISTINCT FROM' : '='} ${value}`)
  .join(' AND ');
const OLD_NOTES = `CASE old.other WHEN '{}' THEN NULL ELSE ',' || substr(old.other, 2, length(old.other) - 2) END`;

/**
 * `usage_row`: one row per call, and per other request of a key. The key is the id in two columns (`ids.ts`), so rows are in the order
 * of time and appended at the end; the index serves the pages of an account. A second insert of an id fails its list. `charged` is in
 * micro-quota. The counts are tokens, NULL without usage. `department_id` is the account's at that time, 0: none. `model` is NULL if the
 * label has it. `attempt_ms` is the duration of the attempt in the label. `repeats`: the number of further equal requests of the key and
 * minute that the row counts (`repeats.ts`); sums count them separately from `lines`, which counts rows. `notes` are members of a JSON object, each
 * after a comma.
 *
 * `usage_label`: values that many rows share (`labels.ts`). `digest` is its unique key. `included`: a subscription paid, not the balance;
 * in sums, the included part of `amount`. `estimated` is NULL without usage. `route`: the path of a request that is not a call; empty for
 * calls. `attempt` is the note of the only attempt up to its duration, `notes` as in the row. `usage_run`: the runs of processes that
 * created ids. Both have a day (UTC) after which no record that refers to them was written: they are deleted after every record of that
 * day.
 *
 * `usage_detail`: columns that few rows need; NULL: not applicable. `at_ms` is NULL if the id has the time. `uses` and `service` are JSON
 * objects.
 *
 * `usage_record`: a view of everything, `other` being a JSON object. `usage_brief`: a view of only the columns for counts and sums, which
 * avoids joins with details and runs.
 */
export const recordTables: Migration = {
  id: 8,
  title: 'usage records in a third of the room',
  sql: [
    `CREATE TABLE usage_run (
      id INTEGER NOT NULL PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      last_day_ms INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE usage_label (
      id INTEGER NOT NULL PRIMARY KEY,
      digest TEXT NOT NULL UNIQUE,
      last_day_ms INTEGER NOT NULL,
      ${OUTCOME_COLUMNS.join(',\n      ')},
      route TEXT NOT NULL,
      included INTEGER NOT NULL CHECK (included IN (0, 1)),
      estimated INTEGER CHECK (estimated IN (0, 1)),
      attempt TEXT NOT NULL,
      notes TEXT NOT NULL
    ) STRICT`,
    `CREATE TABLE usage_row (
      place TEXT NOT NULL,
      run_id INTEGER NOT NULL,
      account_id INTEGER NOT NULL,
      department_id INTEGER NOT NULL,
      key_id INTEGER NOT NULL,
      label_id INTEGER NOT NULL,
      model TEXT,
      input INTEGER,
      cache_read INTEGER,
      cache_write INTEGER,
      cache_write_long INTEGER,
      output INTEGER,
      reasoning INTEGER,
      charged INTEGER NOT NULL CHECK (charged >= 0),
      duration_ms INTEGER NOT NULL,
      first_byte_ms INTEGER,
      attempt_ms INTEGER,
      repeats INTEGER NOT NULL DEFAULT 0,
      ip TEXT NOT NULL,
      notes TEXT,
      PRIMARY KEY (place, run_id)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage_detail (
      place TEXT NOT NULL,
      run_id INTEGER NOT NULL,
      at_ms INTEGER,
      input_audio INTEGER,
      output_audio INTEGER,
      ${DETAIL_COLUMNS.join(',\n      ')},
      uses TEXT,
      service TEXT,
      PRIMARY KEY (place, run_id)
    ) STRICT, WITHOUT ROWID`,
    // The last use is not computed for older records: their runs and labels are kept as long as the newest record.
    `INSERT INTO usage_run (name, last_day_ms)
      SELECT DISTINCT ${sqlRun('old.id')}, (SELECT MAX(at_ms) FROM usage_record) FROM usage_record AS old`,
    // Their digests match no new record.
    `INSERT INTO usage_label (digest, last_day_ms, ${LABEL_COLUMNS}, attempt, notes)
      SELECT 'old ' || ROW_NUMBER() OVER (ORDER BY model), (SELECT MAX(at_ms) FROM usage_record), ${LABEL_COLUMNS}, '', ''
      FROM (SELECT DISTINCT ${Object.entries(OLD_LABEL)
        .map(([column, value]) => `${value} AS ${column}`)
        .join(', ')}
        FROM usage_record AS old) AS label`,
    `CREATE INDEX usage_label_of_old ON usage_label (${LABEL_COLUMNS})`,
    `INSERT INTO usage_row (place, run_id, account_id, department_id, key_id, label_id, model, input, cache_read, cache_write,
        cache_write_long, output, reasoning, charged, duration_ms, first_byte_ms, repeats, ip, notes)
      SELECT ${sqlPlace('old.id')}, usage_run.id, old.account_id, old.department_id, old.key_id, usage_label.id,
        CASE old.outcome WHEN 'served' THEN NULL ELSE old.model END, old.input, old.cache_read, old.cache_write,
        old.cache_write_long, old.output, old.reasoning, old.charged, old.duration_ms, old.first_byte_ms, old.repeats, old.ip,
        ${OLD_NOTES}
      FROM usage_record AS old CROSS JOIN usage_run CROSS JOIN usage_label
      WHERE usage_run.name = ${sqlRun('old.id')} AND ${IS_ITS_LABEL}
      ORDER BY old.id`,
    'DROP INDEX usage_label_of_old',
    `INSERT INTO usage_detail (place, run_id, at_ms, ${ZERO_OF_OLD}, ${NULL_OF_OLD})
      SELECT ${sqlPlace('old.id')}, usage_run.id, CASE WHEN ${IS_OF_OTHER_TIME} THEN old.at_ms END, ${ZERO_OF_OLD}, ${NULL_OF_OLD}
      FROM usage_record AS old CROSS JOIN usage_run
      WHERE usage_run.name = ${sqlRun('old.id')} AND (${IS_OF_OTHER_TIME}
        OR old.input_audio > 0 OR old.output_audio > 0
        OR COALESCE(input_image, output_image, characters, images) IS NOT NULL OR seconds IS NOT NULL
        OR COALESCE(image_size, image_quality, uses, service) IS NOT NULL)
      ORDER BY old.id`,
    'DROP TABLE usage_record',
    'CREATE INDEX usage_row_of_account ON usage_row (account_id, place, run_id)',
    `CREATE VIEW usage_brief AS SELECT
      place, run_id, account_id, department_id, key_id, COALESCE(usage_row.model, usage_label.model) AS model, channel, outcome, route,
      input, output, charged, included, repeats
    FROM usage_row CROSS JOIN usage_label WHERE usage_label.id = usage_row.label_id`,
    `CREATE VIEW usage_record AS SELECT
      ${sqlStart('usage_row.place')} || usage_run.name AS id,
      usage_row.place, usage_row.run_id, account_id, department_id, key_id, at_ms, style,
      COALESCE(usage_row.model, usage_label.model) AS model, channel, stream, outcome, status, route,
      input, cache_read, cache_write, cache_write_long, output, reasoning, estimated,
      CASE WHEN input IS NOT NULL THEN COALESCE(input_audio, 0) END AS input_audio,
      CASE WHEN input IS NOT NULL THEN COALESCE(output_audio, 0) END AS output_audio,
      input_image, output_image, characters, seconds, images, image_size, image_quality, uses, service,
      charged, included, duration_ms, first_byte_ms, repeats, ip, ${OTHER} AS other
    FROM usage_row
      LEFT JOIN usage_label ON usage_label.id = usage_row.label_id
      LEFT JOIN usage_run ON usage_run.id = usage_row.run_id
      LEFT JOIN usage_detail ON usage_detail.place = usage_row.place AND usage_detail.run_id = usage_row.run_id`,
  ],
};
