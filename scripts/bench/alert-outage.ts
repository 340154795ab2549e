/**
 * Measures whether an outage of the targets of alerts slows calls: `node --import tsx scripts/bench/alert-outage.ts [ROUNDS]`.
 *
 * Four gateways run the same calls in turn: without targets, and with a mail server and a webhook that work, that refuse connections, and that accept
 * them and never answer. Every key has a budget whose levels its calls reach, so that all of them have something to deliver all the time. Prints calls
 * per second, and the ratios to the gateway without targets within one run.
 */
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root } from '../../test/kit/console.ts';
import { startSmtp } from '../../test/kit/fake-smtp.ts';
import { closedPort, fakeVendor } from '../../test/kit/fake-vendor.ts';
import { startGateway } from '../../test/kit/gateway.ts';

const ROUNDS = Number(process.argv[2] ?? 12);
const CALLS = 300;
const AT_ONCE = 16;
const KEYS = 20;

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

let posts = 0;
const works = createHttp((request, response) => {
  posts += 1;
  request.resume();
  response.end('{}');
});
const hangs = createTcp((socket) => socket.on('error', () => {}).resume());
const smtp = await startSmtp();
const [workingPort, hangingPort, refusingPort] = [await listening(works), await listening(hangs), await closedPort()];
const vendor = await fakeVendor();

async function variant(name: string, mail: string | undefined, port: number | undefined) {
  const to = [{ mail: 'ops@example.com' }, { webhook: `http://127.0.0.1:${port}/` }];
  const gateway = await startGateway({
    vendor,
    env: ROOT_ENV,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      ...(mail !== undefined && { mail: { smtp: mail, from: 'gateway@example.com' } }),
      alerts: { levels: [1, 2, 5, 10, 20, 35, 50, 65, 80, 95], ...(port !== undefined && { to }) },
    },
  });
  const boss = await root(gateway);
  const keys: string[] = [];
  for (let i = 0; i < KEYS; i++) {
    // A call costs a few quota: the levels are reached all through the run.
    const limits = [{ monthly_budget: ROUNDS * CALLS * 2 }];
    keys.push((await boss.data('POST', '/api/token/', { name: `key ${i}`, limits })).key);
  }
  return { name, gateway, boss, keys, rates: [] as number[] };
}

const variants = [
  await variant('no targets', undefined, undefined),
  await variant('targets work', smtp.url, workingPort),
  await variant('targets refuse', `smtp://127.0.0.1:${refusingPort}`, refusingPort),
  await variant('targets hang', `smtp://127.0.0.1:${hangingPort}`, hangingPort),
];

async function load({ gateway, keys }: (typeof variants)[number]): Promise<number> {
  let left = CALLS;
  const begun = performance.now();
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await gateway.chat({ model: 'test-model', max_tokens: 10 }, { key: keys[left % KEYS]! });
      await response.text();
      if (response.status !== 200) throw new Error(`a call ended with status ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return CALLS / ((performance.now() - begun) / 1_000);
}

for (let round = -1; round < ROUNDS; round++) {
  for (const each of round % 2 === 0 ? variants : variants.toReversed()) {
    const rate = await load(each);
    // The first round warms up.
    if (round >= 0) each.rates.push(rate);
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
for (const { name, boss, rates } of variants) {
  const ratio = median(rates.map((rate, i) => rate / variants[0]!.rates[i]!));
  const { events, targets } = await boss.data('GET', '/api/alerts?limit=200');
  const states = targets.map(
    ({ name: target, waiting, problem }: { name: string; waiting: number; problem: string | null }) => {
      return `${target}: ${waiting} waiting${problem === null ? '' : `, ${problem}`}`;
    },
  );
  process.stdout.write(
    `${name.padEnd(15)} ${median(rates).toFixed(0).padStart(5)} calls/s  ratio ${ratio.toFixed(3)}  ${events.length} events  ${states.join('; ')}\n`,
  );
}
process.stdout.write(`${posts} posts and ${smtp.letters.length} emails were accepted\n`);

for (const { gateway } of variants) await gateway.stop();
await Promise.all([vendor.close(), smtp.close()]);
works.close();
process.exit();
