/** Commands where the data folder is empty, moved away, or has lost a part: nothing is made, and everybody is told what is missing. */
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { runCommandLine } from '../../../core/cli/main.ts';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { startProcess } from '../../kit/gateway/process.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';

const PIPELINE = [...(defaultConfig([]).pipeline as string[]), 'audit', 'second-factors'];

let home: string;
/** What a killed gateway has left: a database, all of whose content is in its log. */
let left: string;
before(async () => {
  home = mkdtempSync(join(tmpdir(), 'turnpike-missing-'));
  left = join(home, 'left');
  mkdirSync(left);
  configure(left);
  const gateway = await startProcess(join(left, 'gateway.yaml'));
  await gateway.kill();
  // A socket cannot be copied.
  rmSync(join(left, 'data', 'turnpike.db.sock'));
});
after(() => rmSync(home, { recursive: true, force: true }));

function configure(dir: string): void {
  const sections = { ...defaultConfig([]), store: { file: './data/turnpike.db' }, pipeline: PIPELINE };
  writeFileSync(join(dir, 'gateway.yaml'), stringify(sections));
}

/** Every file below a folder, with its size. */
function filesOf(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(join(dir, name)).isFile() ? statSync(join(dir, name)).size : ''}`)
    .sort();
}
const namesOf = (dir: string): readonly string[] => readdirSync(dir, { recursive: true, encoding: 'utf8' });

async function run(dir: string, line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const words = line.replaceAll('DIR', dir).split(' ');
  const code = await runCommandLine([...words, '--config', join(dir, 'gateway.yaml')], {
    say: (text) => void stdout.push(text),
    complain: (text) => void stderr.push(text),
    isWatched: true,
  });
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
}

/** Every command that works on a store. */
const ON_A_STORE = [
  'reconcile',
  'backup DIR/nightly.db',
  'user list',
  'user factors root --remove',
  'key list',
  'key revoke 7',
  'audit verify',
  'recover --without-master-key',
];

interface State {
  readonly name: string;
  /** Makes it of a copy of what was left. */
  make(data: string): void;
  /** Exit codes of `start`, and of the commands that work on a store. */
  readonly codes: readonly [start: number | undefined, others: number];
  readonly said: RegExp;
}

const file = (data: string, end = ''): string => join(data, `turnpike.db${end}`);
/** Removes files of a data folder, by the ends of their names. */
const without =
  (...ends: readonly string[]) =>
  (data: string): void => {
    for (const end of ends) rmSync(file(data, end));
  };
const STATES: readonly State[] = [
  {
    name: 'an empty folder',
    make: (data) => rmSync(data, { recursive: true }),
    codes: [undefined, 1],
    said: /there is no database: \S+turnpike\.db does not exist.*`turnpike start` creates it/,
  },
  {
    name: 'a data folder that was moved away',
    make: (data) => renameSync(data, `${data}.away`),
    codes: [undefined, 1],
    said: /there is no database: \S+turnpike\.db does not exist/,
  },
  {
    name: 'an empty database file and nothing else',
    make(data) {
      truncateSync(file(data));
      without('.key', '-wal', '-shm')(data);
    },
    codes: [undefined, 1],
    said: /there is no database: \S+turnpike\.db is empty/,
  },
  {
    name: 'a missing database beside its log and its key',
    make: without(''),
    codes: [78, 1],
    said: /turnpike\.db does not exist, but its write-ahead log \S+-wal is there, but its master key \S+\.key is there\. .*restore FILE/,
  },
  {
    name: 'an emptied database beside its log and its key',
    make: (data) => truncateSync(file(data)),
    codes: [78, 1],
    said: /turnpike\.db is empty, but its write-ahead log \S+-wal is there/,
  },
  {
    name: 'a missing database beside its log, the key being in the environment',
    make: without('', '.key'),
    codes: [78, 1],
    said: /turnpike\.db does not exist, but its write-ahead log \S+-wal is there/,
  },
  {
    name: 'a missing database beside its key',
    make: without('', '-wal', '-shm'),
    codes: [78, 1],
    said: /turnpike\.db does not exist, but its master key \S+\.key is there/,
  },
  {
    name: 'a missing log',
    make: without('-wal'),
    codes: [78, 1],
    said: /turnpike\.db-wal does not exist, and \S+ is not complete without it: put it back/,
  },
  {
    name: 'an emptied log',
    make: (data) => truncateSync(file(data, '-wal')),
    codes: [78, 1],
    said: /turnpike\.db-wal is empty, and \S+ is not complete without it: put it back/,
  },
  {
    name: 'a missing log and index, which held all that there was',
    make: without('-wal', '-shm'),
    codes: [78, 1],
    said: /turnpike\.db has no tables, but its master key \S+\.key is there/,
  },
  {
    name: 'a missing master key',
    make: without('.key'),
    codes: [78, 78],
    said: /the master key of this store is missing: put \S+\.key back.*recover --without-master-key/,
  },
  {
    name: 'an emptied master key',
    make: (data) => truncateSync(file(data, '.key')),
    codes: [78, 78],
    said: /turnpike\.db\.key does not contain a master key: put the right one back/,
  },
];

describe('a store that is not there', onlyOnSqlite('it is about files that are missing'), () => {
  for (const [i, { name, make, codes, said }] of STATES.entries()) {
    const [start, others] = codes;
    const damaged = name.endsWith('master key');
    // With the database whole, a copy of it can be made, and a new key.
    const commands = ON_A_STORE.filter((line) => !damaged || !/^(backup|recover)/.test(line));

    it(`${name}: every command says so, and makes nothing`, async () => {
      const dir = join(home, `state-${i}`);
      cpSync(left, dir, { recursive: true });
      make(join(dir, 'data'));
      const [before, names] = [filesOf(dir), namesOf(dir)];
      for (const line of [...commands, ...(start === undefined ? [] : ['start'])]) {
        const { code, stdout, stderr } = await run(dir, line);
        assert.equal(`${code} ${stdout}`, `${line === 'start' ? start : others} `, `${line}: ${stderr}`);
        assert.match(stderr, said, line);
        const made = namesOf(dir).filter((file) => !names.includes(file));
        assert.deepEqual(made, [], line);
        // A store that could be opened may have been put in order.
        if (!damaged && !name.includes('index')) assert.deepEqual(filesOf(dir), before, line);
      }
      assert.equal((await run(dir, 'check')).code, 0);
      assert.equal((await run(dir, `restore DIR/nothing.db`)).code, 1);
      assert.deepEqual(
        namesOf(dir).filter((file) => !names.includes(file)),
        [],
      );
    });
  }

  it('is not looked for by words that make no command', async () => {
    const dir = join(home, 'words');
    mkdirSync(dir);
    configure(dir);
    for (const [line, code] of [
      ['frobnicate', 2],
      ['backup', 2],
      ['backup a b', 2],
      ['user credit ann', 2],
      ['user list --nonsense', 2],
      ['user', 2],
      ['user --help', 0],
      ['user list --help', 0],
      ['start --help', 0],
      ['help', 0],
      ['version', 0],
    ] as const) {
      assert.equal((await run(dir, line)).code, code, line);
    }
    assert.deepEqual(readdirSync(dir), ['gateway.yaml']);
  });

  it('nor a gateway.yaml: every command names the file that is missing, and makes nothing', async () => {
    const dir = join(home, 'nothing');
    mkdirSync(dir);
    for (const line of [...ON_A_STORE, 'start', 'check', 'restore DIR/nothing.db', 'schema']) {
      const { code, stderr } = await run(dir, line);
      assert.equal(code, 78, line);
      assert.match(stderr, /gateway\.yaml:1:1: the file does not exist/, line);
    }
    assert.deepEqual(readdirSync(dir), []);
  });

  it('is told by check where only its key is there, or only the key is missing', async () => {
    for (const [lose, said] of [
      ['', /warning: .*store: \S+\.key is there, but its database \S+turnpike\.db is missing or empty/],
      ['.key', /warning: .*store: the master key \S+\.key is missing: put it back/],
    ] as const) {
      const dir = join(home, `checked${lose}`);
      cpSync(left, dir, { recursive: true });
      rmSync(file(join(dir, 'data'), lose));
      assert.match((await run(dir, 'check')).stdout, said);
    }
  });
});
