/** How long a large request blocks the event loop: the longest turn while it is served. */
import { script, write } from './folder.ts';
import { type LoadTools, polyglotVendor } from './load.ts';
import { CORE } from './machine.ts';
import { askOf, BYTES, type Pair, TRANSLATED } from './pairs.ts';
import { median } from './rounds.ts';
import { everyStyle, prepareTurnpike } from './turnpike.ts';

/** Milliseconds; over this many requests. */
export interface Blocks {
  /** Without requests: the overhead of the machine and the measurement. */
  readonly idle: number;
  /** By kind of request: its longest turn, median and maximum. */
  readonly requests: ReadonlyMap<Pair, { readonly typical: number; readonly worst: number }>;
}

/** Of the image, as base64. */
const IMAGE_BYTES = 10 * 1024 * 1024;
/** Requests until the measured code is compiled. */
const WARM = 8;

/** A chat request with an image, to a chat vendor and to one of another style. */
export async function measureBlocks(tools: LoadTools, requests: number): Promise<Blocks> {
  const vendor = await polyglotVendor(1, 0);
  const turnpike = await prepareTurnpike(everyStyle(vendor.port));
  // On both cores: the measurement keeps the loop busy, and its threads need a core.
  const server = await turnpike.start({ cores: CORE.both, flags: ['--import', script('./loop-probe.mjs')] });
  let watched = 0;
  const longest = async (work: () => Promise<unknown>): Promise<number> => {
    watched++;
    server.process.signal('SIGUSR2');
    await server.process.says(new RegExp(`watching turn ${watched}\\n`));
    await work();
    server.process.signal('SIGUSR2');
    return Number((await server.process.says(new RegExp(`longest turn ${watched}: (\\S+) ms`)))[1]);
  };
  const times = async (count: number, work: () => Promise<unknown>): Promise<readonly number[]> => {
    const all: number[] = [];
    while (all.length < count) all.push(await longest(work));
    return all;
  };
  const found = new Map<Pair, { typical: number; worst: number }>();
  for (const pair of [BYTES, TRANSLATED[0]!]) {
    const load = { stream: false, connections: 1, requests: 1, ask: { ...askOf(pair, false), body: imageFor(pair) } };
    const ask = async (): Promise<void> => {
      const { failed } = await tools.measure(server, load);
      if (failed > 0) throw new Error(`a request with an image was refused (${pair.title})`);
    };
    for (let i = 0; i < WARM; i++) await ask();
    const all = await times(requests, ask);
    found.set(pair, { typical: median(all)!, worst: Math.max(...all) });
  }
  const idle = median(await times(requests, () => new Promise((resolve) => setTimeout(resolve, 100))))!;
  await server.process.stop();
  await vendor.process.stop();
  return { idle, requests: found };
}

/** A file with a chat request that contains the image. */
function imageFor({ vendor }: Pair): string {
  const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(IMAGE_BYTES / 11 + 1).slice(0, IMAGE_BYTES)}`;
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: image } },
  ];
  return write(
    `image-${vendor}.json`,
    JSON.stringify({ model: vendor, max_tokens: 64, messages: [{ role: 'user', content }] }),
  );
}
