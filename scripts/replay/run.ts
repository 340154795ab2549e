/** Plays a whole folder: every answer to a client of every style, every request to a vendor of every other kind, then the books. */
import { checkAnswer, type Findings, type Served } from './answer-checks.ts';
import { checkBooks } from './book-checks.ts';
import { CLIENT_STYLES, type ClientStyle } from './client.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { checkRequest } from './request-checks.ts';
import type { Verdict } from './verdicts.ts';
import { openWorld, type Upstream, type World } from './world.ts';

/** What to play, and how. */
export interface ReplayOptions {
  readonly exchanges: readonly Recorded[];
  readonly clients?: readonly ClientStyle[];
  readonly vendors?: readonly VendorStyle[];
  readonly seed: number;
  /** So many clients at once. */
  readonly workers?: number;
  /** Told after every so many exchanges. */
  readonly progress?: (done: number, of: number) => void;
}

const VENDOR_STYLES: readonly VendorStyle[] = ['chat', 'responses', 'messages', 'gemini'];

/** The models to which foreign requests go; in turn, because models of one vendor differ in what they take. */
const MODELS: Readonly<Record<VendorStyle, readonly string[]>> = {
  chat: ['gpt-4o', 'deepseek-chat'],
  responses: ['gpt-5', 'gpt-4o'],
  messages: ['claude-sonnet-4-5', 'claude-opus-4-8'],
  gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'],
};

/** So many exchanges at one gateway: the file of a gateway has a limit, and each exchange needs channels of its own. */
const BATCH = 200;

/** Plays it all. */
export async function replay(options: ReplayOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let from = 0; from < options.exchanges.length; from += BATCH) {
    const exchanges = options.exchanges.slice(from, from + BATCH);
    verdicts.push(...(await replayBatch({ ...options, exchanges, seed: options.seed + from })));
    options.progress?.(from + exchanges.length, options.exchanges.length);
  }
  return verdicts;
}

/** A play that waits for a worker. */
type Job = (world: World, worker: number) => Promise<Findings>;

async function replayBatch(options: ReplayOptions): Promise<readonly Verdict[]> {
  const { exchanges, clients = CLIENT_STYLES, vendors = VENDOR_STYLES, seed, workers = 6 } = options;
  const upstreams: Upstream[] = [];
  const jobs: Job[] = [];

  for (const [i, recorded] of exchanges.entries()) {
    if (!vendors.includes(recorded.style)) continue;
    for (const client of clients) {
      const name = `e${i}-${client}`;
      upstreams.push({ name, style: recorded.style, model: recorded.model || MODELS[recorded.style][0]! });
      const about: About = { recorded, client, vendor: recorded.style, check: 'lives' };
      jobs.push((world) => survived(about, checkAnswer(world, recorded, client, name, seed + i)));
    }
  }
  // A worker asks one thing after the other, and so knows what the vendor got.
  const foreign = (worker: number, style: VendorStyle, turn: number): Upstream => ({
    name: `w${worker}-${style}-${turn}`,
    style,
    model: MODELS[style][turn]!,
  });
  for (const style of vendors) {
    for (const turn of MODELS[style].keys()) {
      for (let worker = 0; worker < workers; worker++) upstreams.push(foreign(worker, style, turn));
    }
  }
  for (const [i, recorded] of exchanges.entries()) {
    if (recorded.request === undefined || !clients.some((client) => client === recorded.style)) continue;
    for (const style of vendors) {
      if (style === recorded.style) continue;
      const turn = i % MODELS[style].length;
      const about: About = { recorded, client: recorded.style as ClientStyle, vendor: style, check: 'requests' };
      const ask = async (world: World, worker: number): Promise<Findings> => ({
        verdicts: await checkRequest(world, recorded, foreign(worker, style, turn)),
        served: [],
      });
      jobs.push((world, worker) => survived(about, ask(world, worker)));
    }
  }
  return play(jobs, upstreams, workers);
}

interface About extends Pick<Verdict, 'client' | 'vendor' | 'check'> {
  readonly recorded: Recorded;
}

/** A line so strange that the replay itself trips over it is a finding, and not the end of all others. */
async function survived({ recorded, ...about }: About, job: Promise<Findings>): Promise<Findings> {
  try {
    return await job;
  } catch (error) {
    const detail = `the replay tripped: ${error instanceof Error ? error.message : String(error)}`;
    return { verdicts: [{ what: `${recorded.file}:${recorded.id}`, ...about, result: 'failed', detail }], served: [] };
  }
}

/** Does all jobs, so many at once, in a world of their own; then looks at its books. */
async function play(
  jobs: readonly Job[],
  upstreams: readonly Upstream[],
  workers: number,
): Promise<readonly Verdict[]> {
  const world = await openWorld(upstreams);
  const verdicts: Verdict[] = [];
  const served: Served[] = [];
  try {
    let next = 0;
    const work = async (worker: number): Promise<void> => {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
        const found = await job(world, worker);
        verdicts.push(...found.verdicts);
        served.push(...found.served);
      }
    };
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
    verdicts.push(...(await checkBooks(world, served)));
  } finally {
    await world.stop();
  }
  return verdicts;
}
