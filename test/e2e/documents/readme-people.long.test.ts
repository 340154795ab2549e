/** What the documentation tells people to type about themselves, keys and money: its lines run in a shell, as they stand. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { generateSync } from 'otplib';
import { PASSWORD, ROOT_ENV } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { block, folder, run, shippedSections } from './readme-kit.ts';

const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl here';

describe('the lines of the documentation about people, keys and money', { skip }, () => {
  const place = folder();
  let gateway: TestGateway;
  before(async () => {
    const { store: _, ...sections } = shippedSections();
    const plans = { monthly: { days: 30, daily: 5 } };
    gateway = await startGateway({ config: { ...sections, plans }, env: ROOT_ENV });
    await gateway.command('user create --name ann --role member --password-stdin', PASSWORD);
  });
  after(async () => {
    await gateway?.stop();
    place.remove();
  });

  /** Commands of a block; one goes on behind a backslash. */
  const commands = (name: string): readonly string[] =>
    block(name)
      .replaceAll('http://127.0.0.1:8080', gateway.url)
      .split(/(?<!\\)\n/)
      .filter((line) => line !== '');

  /** What a command prints, which is that it went well. */
  async function typed(line: string, before = '') {
    const { stdout } = await run('bash', ['-c', `${before}\n${line}`], { cwd: place.dir });
    const answer = JSON.parse(stdout);
    assert.equal(answer.success, true, `${line}\n${stdout}`);
    return answer.data;
  }

  it('sign in, and run what an administrator needs', async () => {
    for (const line of commands('five-minutes-api')) {
      await typed(line.replace('"…"', JSON.stringify(ROOT_ENV.TURNPIKE_ROOT_PASSWORD)));
    }
    const [api, setUp, enable, check, ...rest] = commands('second-factor');
    assert.deepEqual(rest, []);
    const { secret, backup_codes: codes } = await typed(setUp!, api);
    await typed(enable!.replace('…', generateSync({ secret })), api);
    await typed(check!.replace('…', codes[0]), api);
    const lines = commands('administration');
    assert.ok(lines.length >= 6, lines.join('\n'));
    for (const line of lines) await typed(line, api);
  });
});
