/** Command lines: which command the words name, what it is given, and the exit code of every way it can end; and the socket they go through. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { CORE_COMMANDS } from '../../../../core/assembly/core-commands.ts';
import {
  CommandFailed,
  type CommandLine,
  type CommandResult,
  findCommand,
  misused,
  readWords,
  runCommand,
  usage,
} from '../../../../core/operations/commands/command-line.ts';
import { askControl, controlPath, openControl } from '../../../../core/operations/commands/control-socket.ts';
import { type Command, type CommandRequest, refuse, UsageError } from '../../../../core/plugin.ts';

/** What the commands were asked, latest last. */
const asked: CommandRequest[] = [];
const command = (name: string, run: () => string | Promise<string>, more: Partial<Command> = {}): Command => ({
  name,
  summary: `does ${name}`,
  ...more,
  run(request) {
    asked.push(request);
    return run();
  },
});
const COMMANDS: readonly Command[] = [
  command('key create', () => 'made', {
    options: {
      name: { type: 'string', short: 'n' },
      unlimited: { type: 'boolean' },
      'password-stdin': { type: 'boolean' },
    },
  }),
  command('key list', async () => 'one\ntwo\n'),
  command('user credit', () => '', { positionals: ['NAME', 'UNITS'] }),
  command('refused', () => refuse(409, 'taken', 'There is one already.')),
  command('misused', () => {
    throw new UsageError('--name is needed');
  }),
  command('unsound', () => {
    throw new CommandFailed('FAILED  the-books: two are missing\n');
  }),
  command('broken', async () => {
    throw new TypeError('x is undefined');
  }),
];
const typed = (line: string, stdin = ''): CommandLine => ({ argv: line.split(' '), stdin, cwd: '/home/ada' });
const run = (line: string, stdin = ''): Promise<CommandResult> => runCommand(COMMANDS, typed(line, stdin));

describe('a command line', () => {
  it('names its command with all of its words', () => {
    assert.equal(findCommand(COMMANDS, ['key', 'list', '--all'])?.name, 'key list');
    for (const words of [['key'], ['key', 'remove'], ['keys', 'list'], ['list'], ['constructor'], []]) {
      assert.equal(findCommand(COMMANDS, words), undefined, words.join(' '));
    }
  });

  it('passes options, short ones too, standard input and the folder to the command', async () => {
    assert.deepEqual(await run('key create -n first --unlimited', 'secret'), { code: 0, stdout: 'made\n', stderr: '' });
    const { values, positionals, stdin, cwd } = asked.at(-1)!;
    assert.deepEqual([{ ...values }, positionals, stdin], [{ name: 'first', unlimited: true }, [], 'secret']);
    assert.equal(cwd, '/home/ada');
    await run('key create --name=-');
    assert.deepEqual({ ...asked.at(-1)!.values }, { name: '-' });
  });

  it('passes the words after the command name, wherever the options are', async () => {
    assert.equal((await run('user credit ada 12')).code, 0);
    assert.deepEqual(asked.at(-1)!.positionals, ['ada', '12']);
    await run('user credit ada -- -12');
    assert.deepEqual(asked.at(-1)!.positionals, ['ada', '-12']);
  });

  it('ends its output with one newline, and empty output with none', async () => {
    assert.equal((await run('key list')).stdout, 'one\ntwo\n');
    assert.equal((await run('user credit ada 12')).stdout, '');
  });

  it('that is invalid exits with 2 and the usage, without running the command', async () => {
    const before = asked.length;
    const how = 'usage: turnpike key create [--name …] [--unlimited] [--password-stdin]';
    for (const [line, complaint] of [
      ['key create --nmae x', /--nmae/],
      ['key create --name', /--name/],
      ['key create --unlimited=yes', /--unlimited/],
      ['key create extra', /extra/],
    ] as const) {
      const { code, stdout, stderr } = await run(line);
      assert.deepEqual([code, stdout], [2, ''], line);
      assert.match(stderr, complaint);
      assert.ok(stderr.endsWith(`\n${how}\n`), stderr);
    }
    for (const line of ['user credit', 'user credit ada', 'user credit ada 12 13']) {
      assert.deepEqual(await run(line), {
        code: 2,
        stdout: '',
        stderr: 'expected NAME UNITS\nusage: turnpike user credit NAME UNITS\n',
      });
    }
    assert.equal(asked.length, before);
  });

  it('with an unknown command exits with 2, and lists the commands', async () => {
    const group = `turnpike key create [--name …] [--unlimited] [--password-stdin] [--json]
  does key create
turnpike key list [--json]
  does key list
`;
    for (const [line, said] of [
      ['key remove 7', `there is no command \`key remove 7\`; there are\n${group}`],
      ['key', `there is no command \`key\`; there are\n${group}`],
      ['usr credit ada', 'there is no command `usr credit ada`; did you mean `user credit`?\n'],
      ['key lst', 'there is no command `key lst`; did you mean `key list`?\n'],
      ['usr', 'there is no command `usr`; did you mean `user`?\n'],
      ['frobnicate', 'there is no command `frobnicate`; `turnpike help` lists them\n'],
    ] as const) {
      assert.deepEqual(await run(line), { code: 2, stdout: '', stderr: said }, line);
    }
    assert.deepEqual(await run('key --help'), { code: 0, stdout: group, stderr: '' });
  });

  it('with --help prints the help, and runs nothing', async () => {
    const before = asked.length;
    for (const line of ['user credit --help', 'user credit -h', 'user credit ada --nonsense --help']) {
      const stdout = 'turnpike user credit NAME UNITS [--json]\n  does user credit\n';
      assert.deepEqual(await run(line), { code: 0, stdout, stderr: '' }, line);
    }
    assert.equal(asked.length, before);
    assert.equal((await run('user credit ada -- --help')).code, 0);
    assert.deepEqual(asked.at(-1)!.positionals, ['ada', '--help']);
  });

  it('with --json prints its result as data, also of a problem; a text alone is the member `result`', async () => {
    const answer = { text: 'one', json: [{ id: 1, left: null }] };
    const commands: readonly Command[] = [
      { ...command('listing', () => ''), run: () => answer },
      {
        ...command('failing', () => ''),
        run() {
          throw new CommandFailed(answer);
        },
      },
      command('saying', () => 'done\n'),
      command('exporting', () => 'text: true\n', { plain: true }),
    ];
    const runOne = async (line: string) => {
      const { code, stdout, stderr } = await runCommand(commands, typed(line));
      return [code, stdout, stderr.split('\n')[0]];
    };
    assert.deepEqual(await runOne('listing'), [0, 'one\n', '']);
    assert.deepEqual(await runOne('listing --json'), [0, '[{"id":1,"left":null}]\n', '']);
    assert.deepEqual(await runOne('failing --json'), [1, '[{"id":1,"left":null}]\n', '']);
    assert.deepEqual(await runOne('saying --json'), [0, '{"result":"done"}\n', '']);
    assert.deepEqual(await runOne('exporting --json'), [2, '', 'there is no option --json']);
  });

  it('refuses what is missing, given twice, or not one of the words of an option, and runs nothing', async () => {
    const before = asked.length;
    const invite = command('invite', () => '', {
      options: {
        name: { type: 'string', short: 'n', required: true },
        role: { type: 'string', value: 'member|admin' },
        to: { type: 'string', value: 'URL|FILE' },
        'password-stdin': { type: 'boolean' },
      },
    });
    assert.equal(usage(invite), 'invite --name … [--role member|admin] [--to URL|FILE] [--password-stdin]');
    for (const [line, complaint] of [
      ['invite', '--name is missing'],
      ['invite --name=', '--name is missing'],
      ['invite --name a --name b', '--name is given twice'],
      ['invite --name a -n a', '--name is given twice'],
      ['invite --name a --password-stdin --password-stdin', '--password-stdin is given twice'],
      ['invite --name a --role membr', '--role must be one of member, admin, not "membr"; did you mean member?'],
      ['invite --name a --role x', '--role must be one of member, admin, not "x"'],
    ] as const) {
      const { code, stderr } = await runCommand([invite], typed(line));
      assert.deepEqual([code, stderr.split('\n')[0]], [2, complaint], line);
    }
    assert.equal(asked.length, before);
    assert.equal((await runCommand([invite], typed('invite -n a --role admin --to member'))).code, 0);
  });

  it('may print a remark beside its result', async () => {
    const noting: Command = {
      ...command('noting', () => ''),
      run({ remark }) {
        remark('one');
        remark('two');
        return 'done';
      },
    };
    const expected = { code: 0, stdout: 'done\n', stderr: 'one\ntwo\n' };
    assert.deepEqual(await runCommand([noting], typed('noting')), expected);
  });

  it('exits with the code of its command', async () => {
    assert.deepEqual(await run('refused'), { code: 1, stdout: '', stderr: 'There is one already.\n' });
    assert.deepEqual(await run('misused'), {
      code: 2,
      stdout: '',
      stderr: '--name is needed\nusage: turnpike misused\n',
    });
    assert.deepEqual(await run('unsound'), { code: 1, stdout: 'FAILED  the-books: two are missing\n', stderr: '' });
    assert.deepEqual(await run('broken'), { code: 1, stdout: '', stderr: 'x is undefined\n' });
  });

  it('of a core command refuses unknown words, too', () => {
    const { start, check, restore } = CORE_COMMANDS;
    assert.deepEqual({ ...readWords(start, ['start', '--welcome']).values }, { welcome: true });
    assert.deepEqual(readWords(restore, ['restore', 'x.db']).positionals, ['x.db']);
    for (const [core, line] of [
      [start, 'start --port 9000'],
      [start, 'start now'],
      [check, 'check --nonsense foo'],
      [check, 'check --welcome'],
      [restore, 'restore'],
      [restore, 'restore a b'],
    ] as const) {
      assert.throws(() => readWords(core, line.split(' ')), UsageError, line);
    }
    assert.deepEqual(misused(restore, new UsageError('expected FILE')), {
      code: 2,
      stdout: '',
      stderr: 'expected FILE\nusage: turnpike restore FILE\n',
    });
  });

  it('is documented with its words and options', () => {
    assert.equal(usage(COMMANDS[2]!), 'user credit NAME UNITS');
    const options = {
      role: { type: 'string', value: 'member|admin' },
      welcome: { type: 'boolean', internal: true },
    } as const;
    assert.equal(usage({ ...COMMANDS[0]!, options }), 'key create [--role member|admin]');
    assert.equal(usage(COMMANDS[1]!), 'key list');
  });
});

const onUnix = process.platform === 'win32' ? it.skip : it;

describe('the control socket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tp-control-'));
  after(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const freshPath = (): string => controlPath(join(folder, `${files++}.db`));
  const answered: CommandResult = { code: 3, stdout: 'ünd\u2028zwei\n', stderr: 'three\n' };
  /** Speaks to the socket by hand; what it says, which is nothing where it hangs up. */
  const say = async (path: string, words: string): Promise<string> => {
    const socket = connect(path);
    const said = text(socket).catch(() => '');
    socket.on('error', () => {});
    socket.write(words);
    return said;
  };

  it('runs a command and returns its result', async () => {
    const path = freshPath();
    const seen: unknown[] = [];
    const control = await openControl(path, async (line) => {
      seen.push(line);
      return answered;
    });
    const line = { argv: ['key', 'create', '--name', 'a b\n'], stdin: 'pass\nword', cwd: '/home/ada' };
    assert.deepEqual(await askControl(path, line), answered);
    assert.deepEqual(seen, [line]);
    await control.close();
  });

  it('accepts long commands, and several at once', async () => {
    const path = freshPath();
    const control = await openControl(path, async ({ argv: [word], stdin }) => ({
      code: 0,
      stdout: word! + stdin.length,
      stderr: '',
    }));
    const body = 'x'.repeat(2_000_000);
    const results = await Promise.all(['a', 'b', 'c'].map((word) => askControl(path, typed(word, body))));
    assert.deepEqual(
      results.map((result) => result?.stdout),
      ['a2000000', 'b2000000', 'c2000000'],
    );
    await control.close();
  });

  it('does not exist without a running gateway, whatever file is left', async () => {
    const path = freshPath();
    assert.equal(await askControl(path, typed('help')), undefined);
    const control = await openControl(path, async () => answered);
    await control.close();
    assert.equal(await askControl(path, typed('help')), undefined);
  });

  onUnix('takes the place of what a gateway that died has left', async () => {
    const path = freshPath();
    writeFileSync(path, 'left behind');
    const control = await openControl(path, async () => answered);
    assert.deepEqual(await askControl(path, typed('help')), answered);
    await control.close();
  });

  onUnix('is for the user of the gateway alone', async () => {
    const path = freshPath();
    const control = await openControl(path, async () => answered);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await control.close();
  });

  it('disconnects after a line that is too long or not a command, and runs none of it', async () => {
    const path = freshPath();
    const control = await openControl(path, async () => assert.fail('it must not run'), 65_536);
    const line = (stdin: string) => `${JSON.stringify(typed('help', stdin))}\n`;
    for (const words of [line('x'.repeat(70_000)), line('x'.repeat(65_536)), 'x'.repeat(1 << 20)]) {
      assert.equal(await say(path, words), '');
    }
    for (const words of [
      '\n',
      'help\n',
      'null\n',
      '[]\n',
      '{"argv":["help"]}\n',
      '{"argv":["help"],"stdin":""}\n',
      '{"argv":"help","stdin":"","cwd":"/"}\n',
    ]) {
      assert.equal(await say(path, words), '', words);
    }
    await assert.rejects(askControl(path, typed('help', 'x'.repeat(70_000))), {
      message: 'the running gateway closed the control socket without an answer',
    });
    await control.close();
  });

  onUnix('of another user is told nothing, where others could have put it', async (t) => {
    const path = freshPath();
    let heard = 0;
    const control = await openControl(path, async () => {
      heard++;
      return answered;
    });
    const { uid } = statSync(path);
    t.mock.method(process as { getuid(): number }, 'getuid', () => uid + 1);
    for (const mode of [0o777, 0o1777, 0o775]) {
      chmodSync(folder, mode);
      await assert.rejects(askControl(path, typed('help', 'password')), {
        message: `the control socket ${path} belongs to another user: run this as the user the gateway runs as`,
      });
    }
    assert.equal(heard, 0);
    chmodSync(folder, 0o755);
    assert.deepEqual(await askControl(path, typed('help')), answered, 'nobody but its owner could have put it here');
    await control.close();
  });

  it('reports an answer that breaks off', async () => {
    const path = freshPath();
    const server = createServer((socket: Socket) => void socket.once('data', () => socket.end('{"code":0,"std')));
    await new Promise<void>((listening) => server.listen(path, listening));
    await assert.rejects(askControl(path, typed('help')), { message: /without an answer/ });
    await new Promise((closed) => server.close(closed));
  });

  it('closes when the running commands have ended, and does not wait for idle connections', async () => {
    const path = freshPath();
    let finish = (_result: CommandResult): void => {};
    let began = (): void => {};
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    const control = await openControl(path, () => {
      began();
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    const idler = say(path, '{"argv":');
    const result = askControl(path, typed('backup x'));
    await running;
    const closed = control.close();
    assert.equal(await idler, '');
    finish(answered);
    assert.deepEqual(await result, answered);
    await closed;
  });

  onUnix(
    'lies beside the database, or where a path that long would not do, in the folder for such things',
    async () => {
      assert.equal(controlPath('/data/turnpike.db'), '/data/turnpike.db.sock');
      // The system counts bytes.
      assert.equal(dirname(controlPath(`/${'ü'.repeat(50)}/turnpike.db`)), tmpdir());
      const long = join(folder, 'x'.repeat(100), 'turnpike.db');
      const path = controlPath(long);
      assert.equal(dirname(path), tmpdir());
      assert.notEqual(path, controlPath(`${long}2`));
      assert.equal(path, controlPath(long));
      const control = await openControl(path, async () => answered);
      assert.deepEqual(await askControl(path, typed('help')), answered);
      await control.close();
    },
  );
});
