/**
 * Checks a running gateway against `/api/openapi.json` with schemathesis, which is needed in PATH: as `root` or as a `member`, who are signed
 * in again whenever their session has ended, or as a `visitor`.
 *
 * `node --import tsx scripts/openapi/schemathesis.ts root|member|visitor [OPTION…]`: the options are those of `schemathesis run`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  signedIn,
  verify,
} from '../../test/kit/console/console.ts';
import { startGateway } from '../../test/kit/gateway/gateway.ts';

const [who = 'root', ...options] = process.argv.slice(2);
const gateway = await startGateway({
  env: ROOT_ENV,
  config: {
    pipeline: [...CONSOLE_PIPELINE],
    console: PATIENT,
    channels: [{ name: 'demo', vendor: 'demo' }],
    models: { 'test-model': { from: ['demo'], price: { input: 10, output: 10 } } },
  },
});
const boss = await verify(await signedIn(gateway, 'root'));
await boss.data('POST', '/api/department/', { name: 'Research' });
for (let i = 0; i < 20; i++) {
  await member(gateway, `user${i}`, { units: 1_000 });
  await boss.data('POST', '/api/token/', { name: `key${i}` });
  await boss.data('POST', '/api/redemption/', { name: `code${i}`, quota: 5 });
}

let deleted = 0;
/** Signs in again; as another member if the one so far has deleted the account. */
async function cookies(): Promise<string> {
  const name = who === 'root' ? 'root' : `somebody${deleted}`;
  const person = await checked(gateway, await signedIn(gateway, name));
  return [...person.cookies].map(([cookie, value]) => `${cookie}=${value}`).join('; ');
}
const signIn = createServer((_, response) => {
  cookies()
    .catch(() => {
      deleted++;
      return cookies();
    })
    .then((line) => response.end(line));
}).listen(0, '127.0.0.1');
await once(signIn, 'listening');
const child = spawn('schemathesis', ['run', `${gateway.url}/api/openapi.json`, ...options], {
  stdio: 'inherit',
  env: {
    ...process.env,
    SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
    PYTHONPATH: join(import.meta.dirname),
    ...(who !== 'visitor' && { SIGN_IN: `http://127.0.0.1:${(signIn.address() as AddressInfo).port}/` }),
  },
});
[process.exitCode] = (await once(child, 'close')) as [number];
signIn.close();
await gateway.stop();
