/** Help, hints and completion of the command line: they need neither a configuration nor a gateway, and open no store. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of gateway.yaml, and variables of a shell
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runCommandLine } from '../../../core/cli/main.ts';

const folder = mkdtempSync(join(tmpdir(), 'tp-help-'));
after(() => rmSync(folder, { recursive: true }));

const invalid = join(folder, 'invalid.yaml');
writeFileSync(invalid, 'pipeline: [no-such-plugin]\nnonsense: 1\n');
/** Its commands run in a gateway whose store does not exist. */
const withSecret = join(folder, 'secret.yaml');
writeFileSync(
  withSecret,
  'pipeline: [accounts, keys]\nstore: { file: ./none/turnpike.db }\nkeys: { length: "${secret:none}" }\n',
);

/** Runs a command line; `config`: the file that it names. */
async function run(line: string, config = join(folder, 'missing.yaml')) {
  let [stdout, stderr] = ['', ''];
  const terminal = {
    say(text: string) {
      stdout += text;
    },
    complain(text: string) {
      stderr += text;
    },
    isWatched: false,
  };
  const code = await runCommandLine([...line.split(' '), '--config', config], terminal);
  return { code, stdout, stderr };
}

describe('help without a configuration', () => {
  for (const [name, config] of [
    ['missing', undefined],
    ['invalid', invalid],
    ['that names secrets of a store that does not exist', withSecret],
  ] as const) {
    it(`lists and explains the commands of plugins, with a file ${name}`, async () => {
      const { code, stdout } = await run('help', config);
      assert.equal(code, 0);
      for (const command of ['start', 'backup now', 'key create', 'user create', 'token list']) {
        assert.match(stdout, new RegExp(`^ {2}${command} {2}`, 'm'));
      }
      for (const line of ['key create --help', 'key create -h', 'help key create']) {
        const { code, stdout, stderr } = await run(line, config);
        assert.deepEqual([code, stderr], [0, ''], line);
        assert.match(stdout, /^turnpike key create --name … .*--expires …/, line);
      }
      const group = await run('help user', config);
      assert.match(group.stdout, /^turnpike user create .*^turnpike user disable /ms);
      const files = readdirSync(folder, { recursive: true });
      assert.ok(!files.some((file) => `${file}`.includes('turnpike.db')), `${files}`);
    });
  }

  it('explains a command that is a group, too', async () => {
    assert.match((await run('help backup')).stdout, /^turnpike backup FILE .*^turnpike backup prove FILE /ms);
  });

  it('is data with --json', async () => {
    const commands = JSON.parse((await run('help --json')).stdout) as { readonly name: string }[];
    assert.ok(commands.some(({ name }) => name === 'prices update'));
  });
});

describe('a typing error without a configuration', () => {
  for (const [line, hint] of [
    ['stat', 'did you mean `start`?'],
    ['Start', 'did you mean `start`?'],
    ['key lst', 'did you mean `key list`?'],
    ['kye list', 'did you mean `key list`?'],
    ['key rotat 7', 'did you mean `key rotate`?'],
    ['user delte ann', 'did you mean `user delete`?'],
    ['config secret lst', 'did you mean `config secret list`?'],
    ['help kye', 'did you mean `key`?'],
    ['key create --nmae x', 'did you mean --name?'],
    ['user create --name x --role membr --password-stdin', 'did you mean member?'],
    ['plugin new x --kind vendr', 'did you mean vendor?'],
    ['completion bsh', 'did you mean bash?'],
  ] as const) {
    it(`is usage with a hint: ${line}`, async () => {
      const { code, stderr } = await run(line);
      assert.equal(code, 2);
      assert.ok(stderr.includes(hint), stderr);
    });
  }

  it('does not hide that a right command has no configuration', async () => {
    const { code, stderr } = await run('key list');
    assert.deepEqual([code, stderr.includes('the file does not exist')], [78, true], stderr);
  });

  it('of --config is usage', async () => {
    assert.deepEqual(await run('check --config other.yaml'), {
      code: 2,
      stdout: '',
      stderr: '--config is given twice',
    });
    assert.equal((await run('version', '-')).code, 2);
  });
});

describe('the completion of bash', { skip: process.platform === 'win32' }, () => {
  const script = join(folder, 'completion.bash');
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'files/a file.yaml'), '');

  /** The suggestions for the last word of a line. */
  async function suggestions(line: string): Promise<readonly string[]> {
    if (!existsSync(script)) writeFileSync(script, (await run('completion bash')).stdout);
    const words = line.split(' ');
    const shown = 'source "$0"; COMP_CWORD=$(($# - 1)); COMP_WORDS=("$@"); _turnpike; printf "%s\\n" "${COMPREPLY[@]}"';
    const { stdout, stderr } = spawnSync('bash', ['-c', shown, script, ...words], {
      cwd: join(folder, 'files'),
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    return stdout.split('\n').filter((word) => word !== '');
  }

  for (const [line, expected] of [
    ['turnpike ke', ['key']],
    ['turnpike key ', ['create', 'disable', 'edit', 'enable', 'list', 'revoke', 'rotate', 'show']],
    ['turnpike key cr', ['create']],
    ['turnpike key rotate --gr', ['--grace']],
    ['turnpike user de', ['delete']],
    ['turnpike key create --na', ['--name']],
    ['turnpike key create --name key --ex', ['--expires']],
    ['turnpike user create --role ', ['member', 'admin']],
    ['turnpike user create --role a', ['admin']],
    ['turnpike user create --name ', []],
    ['turnpike plugin new x --kind v', ['vendor']],
    ['turnpike config secret s', ['set']],
    ['turnpike config s', ['secret']],
    ['turnpike help key l', ['list']],
    ['turnpike completion f', ['fish']],
    ['turnpike --config ', ['a file.yaml']],
    ['turnpike restore a', ['a file.yaml']],
    ['turnpike import litellm --out ', ['a file.yaml']],
    ['turnpike version --js', ['--json']],
    ['turnpike start --js', []],
  ] as const) {
    it(`of "${line}" is ${expected.length === 0 ? 'nothing' : expected.join(' ')}`, async () => {
      assert.deepEqual([...(await suggestions(line))].sort(), [...expected].sort());
    });
  }

  it('has every command and every option', async () => {
    const commands = JSON.parse((await run('help --json')).stdout) as {
      readonly name: string;
      readonly usage: string;
    }[];
    const { stdout } = await run('completion bash');
    for (const { name, usage } of commands) {
      const words = name.split(' ');
      for (const i of words.keys()) {
        const line = new RegExp(`^    "${words.slice(0, i).join(' ')}"\\) words=".*(?<=[" ])${words[i]}(?=[" ])`, 'm');
        assert.match(stdout, line);
      }
      for (const [option] of usage.matchAll(/--[a-z-]+/g)) {
        assert.match(stdout, new RegExp(`^    "${name}"\\) words=".*(?<=[" ])${option}(?=[" ])`, 'm'));
      }
    }
    for (const shell of ['zsh', 'fish']) assert.match((await run(`completion ${shell}`)).stdout, /'?--expires'?/);
  });
});
