/** The tables that usage records are kept in: what repeats from call to call stands in them once. */
import type { Migration } from '../../core/plugin.ts';
import { sqlPlace, sqlRun, sqlStart, sqlTime } from './ids.ts';

/** All that was noted of a record: an object of the members that its label, its attempt and its row have, each behind a comma. */
const OTHER = `'{' || substr(usage_label.notes
      || CASE usage_label.attempt WHEN '' THEN ''
        ELSE usage_label.attempt || COALESCE(CAST(usage_row.attempt_ms AS TEXT), 'null') || '}]' END
      || COALESCE(usage_row.notes, ''), 2) || '}'`;

/** The columns of `usage_detail` that are NULL in most records of older releases, and those that are 0. */
const NULL_OF_OLD = 'input_image, output_image, characters, seconds, images, image_size, image_quality, uses, service';
const ZERO_OF_OLD = 'input_audio, output_audio';
const IS_OF_OTHER_TIME = `substr(old.id, 1, 10) <> ${sqlTime('old.at_ms')}`;

/** What the label of an older record says. The model of one that was not served stays in its row: clients make up names. */
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
 * `usage_row`: one row per exchange, and per request that is none. Its key is its id in two columns (`ids.ts`): rows are in the order of
 * time, so they grow at their end; the index serves the pages of an account. A list that would write an id again fails. `charged` is
 * micro-quota. The counts are tokens, NULL where nothing was used. `department_id` is the account's at that time, 0: none. `model` is
 * NULL where the label has it. `attempt_ms` is how long the attempt took that the label describes. `repeats`: how many more
 * requests of its key and minute it stands for, all alike (`repeats.ts`); in sums they are counted beside `lines`, which are the rows
 * that there are. `notes` are members of a JSON object, each behind a comma.
 *
 * `usage_label`: what is the same of many rows (`labels.ts`). `digest` tells two apart. `included`: a subscription paid, not the balance;
 * in sums, how much of `amount` that is. `estimated` is NULL where nothing was used. `route`: it is no call but a request for that route;
 * empty: a call. `attempt` is the note of the only attempt as far as its time, `notes` as in the row. `usage_run`: the runs of processes
 * that made ids. Both say a day (UTC) after which no record that refers to them was written: they are deleted when every record
 * of that day is.
 *
 * `usage_detail`: what few rows have; NULL: the call has nothing to do with it. `at_ms` is NULL where the id has the moment.
 * `uses` and `service` are JSON objects.
 *
 * `usage_record`: all of it together, `other` being a JSON object. `usage_brief`: only what records are counted and added up by; sums
 * of the whole would look up details and runs of every row.
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
      style TEXT NOT NULL,
      model TEXT NOT NULL,
      channel TEXT NOT NULL,
      stream INTEGER NOT NULL CHECK (stream IN (0, 1)),
      outcome TEXT NOT NULL,
      status INTEGER NOT NULL,
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
      input_image INTEGER,
      output_image INTEGER,
      characters INTEGER,
      seconds REAL,
      images INTEGER,
      image_size TEXT,
      image_quality TEXT,
      uses TEXT,
      service TEXT,
      PRIMARY KEY (place, run_id)
    ) STRICT, WITHOUT ROWID`,
    // Of older records it is not looked up when each was used last: all stay as long as the newest.
    `INSERT INTO usage_run (name, last_day_ms)
      SELECT DISTINCT ${sqlRun('old.id')}, (SELECT MAX(at_ms) FROM usage_record) FROM usage_record AS old`,
    // Their digests are none that a record is looked for by.
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
