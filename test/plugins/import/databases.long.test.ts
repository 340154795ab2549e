/** Databases that an import reads: SQLite, PostgreSQL and MariaDB give the same rows, in the same order, of one snapshot. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readMysqlAddress, withoutPassword } from '../../../plugins/import/databases/dsn.ts';
import { type Database, openDatabase } from '../../../plugins/import/databases.ts';
import { recognise } from '../../../plugins/import/programs.ts';
import type { Row } from '../../../plugins/import/values.ts';
import { Database as Sqlite } from '../../../plugins/stores/sqlite/binding.ts';
import { type MariadbServer, noMariadb, startMariadb } from '../../kit/stand-ins/mariadb.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { turns } from '../../kit/until.ts';
import { changeSqlite, LITELLM_VERSIONS, makeSqlite, NEW_API_VERSIONS, ONE_API_VERSIONS } from './databases.ts';

/** The same tables in each dialect. */
const TABLES = {
  sqlite: `CREATE TABLE things (id integer PRIMARY KEY, big bigint, price numeric, "group" text, on_off numeric, at datetime, bytes blob, data json);
    CREATE TABLE named (name text PRIMARY KEY, n int); CREATE TABLE pairs (b int, a text, PRIMARY KEY (b, a)); CREATE TABLE bare (n int); CREATE TABLE vacant (id int)`,
  postgres: `CREATE TABLE things (id bigserial PRIMARY KEY, big bigint, price numeric(20,6), "group" text, on_off boolean, at timestamptz, bytes bytea, data json);
    CREATE TABLE named (name text PRIMARY KEY, n int); CREATE TABLE pairs (b int, a text, PRIMARY KEY (b, a)); CREATE TABLE bare (n int); CREATE TABLE vacant (id int)`,
  mariadb: `CREATE TABLE things (id bigint PRIMARY KEY, big bigint, price decimal(20,6), \`group\` longtext, on_off tinyint(1), at datetime(3), bytes longblob, data longtext);
    CREATE TABLE named (name varchar(191) PRIMARY KEY, n int); CREATE TABLE pairs (b int, a varchar(191), PRIMARY KEY (b, a)); CREATE TABLE bare (n int); CREATE TABLE vacant (id int)`,
};
const MANY = 4_500;
const rowsOf = (bytes: string, time: string): string => {
  const things = `INSERT INTO things VALUES
    (3, 9007199254740993, 0.1, 'vip', ${bytes === 'x' ? 1 : "'1'"}, NULL, NULL, NULL),
    (1, 42, NULL, 'a?b''c', NULL, '${time}', ${bytes === 'x' ? "x'00ff10'" : "'\\x00ff10'"}, '{"a":[1]}'),
    (2, -9223372036854775808, 2, NULL, ${bytes === 'x' ? 0 : "'0'"}, NULL, NULL, NULL);`;
  const named = `INSERT INTO named VALUES ${Array.from({ length: MANY }, (_, i) => `('n${String((i * 7) % MANY).padStart(5, '0')}', ${i})`).join(',')};`;
  const pairs = `INSERT INTO pairs VALUES ${Array.from({ length: MANY }, (_, i) => `(${i % 3}, 'p${String(i).padStart(5, '0')}')`).join(',')};`;
  const bare = `INSERT INTO bare VALUES ${Array.from({ length: MANY }, (_, i) => `(${i})`).join(',')};`;
  return things + named + pairs + bare;
};

interface Kind {
  readonly name: 'sqlite' | 'postgres' | 'mariadb';
  readonly skip: string | false;
  /** Makes a database of these statements. Returns its address, and one that changes it. */
  make(sql: string): Promise<{ readonly address: string; change(sql: string): Promise<void> }>;
}

let dir: string;
let postgres: PostgresServer | undefined;
let mariadb: MariadbServer | undefined;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
  if (noPostgres() === undefined) postgres = await startPostgres();
  if (noMariadb() === undefined) mariadb = await startMariadb();
});
after(async () => {
  rmSync(dir, { recursive: true, force: true });
  postgres?.remove();
  await mariadb?.remove();
});

let made = 0;
const KINDS: readonly Kind[] = [
  {
    name: 'sqlite',
    skip: false,
    async make(sql) {
      made++;
      const address = join(dir, `${made}.db`);
      const db = new Sqlite(address);
      db.pragma('journal_mode = WAL');
      db.exec(sql);
      return { address, change: async (more) => void db.exec(more) };
    },
  },
  {
    name: 'postgres',
    skip: noPostgres() ?? false,
    async make(sql) {
      const address = await postgres!.database();
      await postgres!.query(address, sql);
      return { address, change: async (more) => void (await postgres!.query(address, more)) };
    },
  },
  {
    name: 'mariadb',
    skip: noMariadb() ?? false,
    async make(sql) {
      const url = await mariadb!.database();
      await mariadb!.run(url, sql);
      const name = new URL(url).pathname.slice(1);
      const address = `turnpike:p@ss/w:rd@tcp(127.0.0.1:${mariadb!.port})/${name}?charset=utf8mb4&parseTime=True`;
      return { address, change: (more) => mariadb!.run(url, more) };
    },
  },
];

async function all(database: Database, table: string, options = {}): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of database.each(table, options)) rows.push(row);
  return rows;
}

for (const { name, skip, make } of KINDS) {
  describe(`a database of ${name}`, { skip }, () => {
    let database: Database;
    let change: (sql: string) => Promise<void>;
    before(async () => {
      const sql = `${TABLES[name]};${rowsOf(name === 'postgres' ? 'text' : 'x', '2025-01-31 10:00:00')}`;
      const source = await make(sql);
      change = source.change;
      database = await openDatabase(source.address);
    });
    after(() => database.close());

    it('lists its tables with their rows, and those that nobody read', async () => {
      assert.deepEqual(
        [...(await database.tables())],
        [
          ['bare', MANY],
          ['named', MANY],
          ['pairs', MANY],
          ['things', 3],
          ['vacant', 0],
        ],
      );
      await database.rows('named');
      assert.deepEqual([...(await database.unread(['bare', 'pairs']))], [['things', 3]]);
      assert.deepEqual(await database.columns('pairs'), ['b', 'a']);
      assert.deepEqual(await database.columns('none'), []);
      assert.equal(await database.rows('none'), undefined);
    });

    it('gives rows in the order of their ids, and every value exactly', async () => {
      const [one, two, three] = (await database.rows('things'))!;
      assert.deepEqual([one!.id, two!.id, three!.id], [1, 2, 3]);
      assert.deepEqual([one!.big, two!.big, three!.big], [42, '-9223372036854775808', '9007199254740993']);
      assert.equal(Number(three!.price), 0.1);
      assert.equal(one!.group, "a?b'c");
      assert.equal(one!.bytes, '\\x00ff10');
      assert.match(String(one!.at), /^2025-01-31[ T]10:00:00/);
      assert.deepEqual(typeof one!.data === 'string' ? JSON.parse(one!.data) : one!.data, { a: [1] });
      assert.ok([true, 1, '1'].includes(three!.on_off as never), String(three!.on_off));
      assert.ok([false, 0, '0'].includes(two!.on_off as never), String(two!.on_off));
      assert.equal(two!.group, null);
    });

    it('reads tables of several pages whole, ordered by their primary key, the newest first if asked', async () => {
      const named = await all(database, 'named');
      assert.deepEqual(
        named.map((row) => row.name),
        Array.from({ length: MANY }, (_, i) => `n${String(i).padStart(5, '0')}`),
      );
      const pairs = (await database.rows('pairs'))!.map(({ b, a }) => `${b} ${a}`);
      assert.deepEqual(pairs, [...pairs].sort());
      assert.equal(new Set(pairs).size, MANY);
      const bare = new Set((await all(database, 'bare')).map((row) => row.n));
      assert.equal(bare.size, MANY);
      assert.deepEqual(
        (await all(database, 'named', { newest: 2 })).map((row) => row.name),
        ['n04499', 'n04498'],
      );
      const byOther = (await all(database, 'named', { newest: 3_000, by: 'n' })).map((row) => row.n);
      assert.deepEqual(
        byOther,
        Array.from({ length: 3_000 }, (_, i) => MANY - 1 - i),
      );
    });

    it('reads only the columns that are asked for, the ids, and those that the order needs', async () => {
      const things = await all(database, 'things', { only: ['group', 'none', 'big'] });
      assert.deepEqual(
        things.map((row) => Object.keys(row).sort().join(' ')),
        Array.from({ length: 3 }, () => 'big group id'),
      );
      const named = await all(database, 'named', { only: ['n'] });
      assert.equal(named.length, MANY);
      assert.deepEqual(Object.keys(named.at(-1)!).sort(), ['n', 'name']);
      assert.equal((await all(database, 'named', { only: ['none'], by: 'n' })).length, MANY);
      assert.equal((await all(database, 'bare', { only: ['none'] })).length, MANY);
    });

    it('can be asked something else between two rows', async () => {
      let rows = 0;
      for await (const row of database.each('named')) {
        if (rows++ % 1_000 === 0) assert.deepEqual(await database.columns('named'), ['name', 'n'], String(row.name));
      }
      assert.equal(rows, MANY);
    });

    it('shows one moment, whatever its program writes meanwhile', async () => {
      await change("DELETE FROM named WHERE n < 100; INSERT INTO named VALUES ('x', 1)");
      assert.equal((await database.rows('named'))!.length, MANY);
    });
  });
}

describe('a SQLite file', () => {
  it('is not kept from its program while it is read, and is read as it was', async () => {
    const file = join(dir, 'busy.db');
    const program = new Sqlite(file, { timeout: 0 });
    program.exec(
      'PRAGMA journal_mode = DELETE; CREATE TABLE users (id integer PRIMARY KEY, quota int); INSERT INTO users VALUES (1, 5)',
    );
    const temporary = process.env.TMPDIR;
    process.env.TMPDIR = mkdtempSync(join(dir, 'tmp-'));
    const database = await openDatabase(file);
    assert.deepEqual(readdirSync(tmpdir()), [], 'its copy, with the secrets, has no name any more');
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
    program.exec('UPDATE users SET quota = 4');
    assert.deepEqual(await database.rows('users'), [{ id: 1, quota: 5 }]);
    await database.close();
    program.close();
  });

  it('is read without its views, which could compute without end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-'));
    const file = join(folder, 'hostile.db');
    makeSqlite(file, NEW_API_VERSIONS[0]!, {});
    changeSqlite(
      file,
      `DROP TABLE options;
      CREATE VIEW options AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS key, x AS value FROM c WHERE x < 0`,
    );
    const database = await openDatabase(file);
    try {
      assert.equal(await database.rows('options'), undefined);
      assert.equal((await database.tables()).has('options'), false);
    } finally {
      await database.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('that another program has locked is waited for', async () => {
    const file = join(dir, 'locked.db');
    const db = new Sqlite(file);
    db.exec('CREATE TABLE users (id integer PRIMARY KEY); INSERT INTO users VALUES (7)');
    db.exec('BEGIN EXCLUSIVE');
    const opening = openDatabase(file);
    // It has tried once by now, and waits.
    await turns();
    db.exec('COMMIT');
    const database = await opening;
    assert.deepEqual(await database.rows('users'), [{ id: 7 }]);
    await database.close();
    db.close();
  });
});

describe('an address of MySQL', () => {
  it('is read as a URL and as Go writes it, with any password', () => {
    const host = { host: 'db', port: 3306 };
    for (const [address, expected] of [
      [
        'mysql://root:p%40ss@db/new-api',
        { ...host, user: 'root', password: 'p@ss', database: 'new-api', tls: undefined },
      ],
      [
        'mariadb://root@db:3307/x?ssl-mode=REQUIRED',
        { host: 'db', port: 3307, user: 'root', password: '', database: 'x', tls: 'unverified' },
      ],
      [
        'root:p@:/ss@tcp(db:3306)/oneapi?charset=utf8',
        { ...host, user: 'root', password: 'p@:/ss', database: 'oneapi', tls: undefined },
      ],
      [
        'root@tcp([::1]:3309)/x?tls=true',
        { host: '::1', port: 3309, user: 'root', password: '', database: 'x', tls: 'verified' },
      ],
      ['mysql://root:a@tcp(db)/x', { ...host, user: 'root', password: 'a', database: 'x', tls: undefined }],
      [
        'u:p@unix(/run/mysqld.sock)/x',
        { socketPath: '/run/mysqld.sock', user: 'u', password: 'p', database: 'x', tls: undefined },
      ],
    ] as const)
      assert.deepEqual(readMysqlAddress(address), expected, address);
  });

  it('is never shown with its password', () => {
    assert.equal(withoutPassword('bad p@ss here', 'mysql://u:p%40ss@db/x'), 'bad … here');
    assert.equal(withoutPassword('no u:p@:/ss', 'u:p@:/ss@tcp(db)/x'), 'no u:…');
  });
});

describe('the program of a database', () => {
  const opened = async (version: { readonly sql: string; readonly name: string }, more = ''): Promise<Database> => {
    made++;
    const file = join(dir, `program-${made}.db`);
    makeSqlite(file, { name: version.name, sql: version.sql + more }, {});
    return openDatabase(file);
  };

  it('is told by its tables and columns, in every version', async () => {
    for (const [program, versions] of [
      ['one-api', ONE_API_VERSIONS],
      ['new-api', NEW_API_VERSIONS],
    ] as const)
      for (const version of versions)
        assert.equal((await recognise(await opened(version), undefined)).program, program, version.name);
    const hub = await opened(
      ONE_API_VERSIONS[1]!,
      'CREATE TABLE user_groups (id int); CREATE TABLE prices (model text);',
    );
    assert.equal((await recognise(hub, 'one-hub')).program, 'one-hub');
    // Its types of channels have other numbers than those of one-api, also before it had the table user_groups.
    const early = await opened(ONE_API_VERSIONS[1]!, 'CREATE TABLE prices (model text);');
    assert.equal((await recognise(early, undefined)).program, 'one-hub');
    const setUp = "CREATE TABLE setups (id int, version text); INSERT INTO setups VALUES (1, 'v0.9.3');";
    const { version } = await recognise(await opened(NEW_API_VERSIONS[2]!, setUp), 'new-api');
    assert.equal(version, 'set up with v0.9.3');
  });

  it('refuses one that is another program, or a fork that is not known', async () => {
    const asked = async (
      version: { readonly sql: string; readonly name: string },
      more: string,
      wanted: 'one-api' | 'new-api' | 'litellm',
    ) => recognise(await opened(version, more), wanted);
    const [oneApi, newApi] = [ONE_API_VERSIONS[2]!, NEW_API_VERSIONS[2]!];
    await assert.rejects(asked(newApi, '', 'one-api'), /a database of new-api, not of one-api/);
    await assert.rejects(asked(oneApi, '', 'new-api'), /a database of one-api, not of new-api/);
    await assert.rejects(asked(oneApi, '', 'litellm'), /a database of one-api, not of litellm/);
    await assert.rejects(asked(oneApi, 'CREATE TABLE user_groups (id int);', 'one-api'), /no table prices/);
    await assert.rejects(asked(oneApi, 'CREATE TABLE setups (id int);', 'one-api'), /fork of new-api/);
    await assert.rejects(asked(oneApi, 'ALTER TABLE channels ADD COLUMN proxy text;', 'one-api'), /the column proxy/);
    await assert.rejects(
      asked(oneApi, 'ALTER TABLE tokens DROP COLUMN remain_quota;', 'one-api'),
      /tokens has no column remain_quota/,
    );
    await assert.rejects(asked(oneApi, 'DROP TABLE channels;', 'one-api'), /it does not have the table channels/);
  });

  it('is LiteLLM by its table of keys', { skip: noPostgres() ?? false }, async () => {
    const url = await postgres!.database();
    await postgres!.query(url, LITELLM_VERSIONS[2]!.sql);
    const database = await openDatabase(url);
    assert.equal((await recognise(database, 'litellm')).program, 'litellm');
    await assert.rejects(recognise(database, 'new-api'), /a database of litellm, not of new-api/);
    await database.close();
  });
});
