/**
 * Plays a whole folder: every answer to a client of every style, every request to a vendor of every other style, then
 * checks the records.
 */
import { checkAnswer, type PlayResult, type Served } from './answer-checks.ts';
import { checkBooks } from './book-checks.ts';
import { CLIENT_STYLES, type ClientStyle } from './client.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { checkRequest } from './request-checks.ts';
import type { Finding } from './verdicts.ts';
import { openWorld, type Upstream, type World } from './world.ts';

/** Options of a replay. */
export interface ReplayOptions {
  readonly exchanges: readonly Recorded[];
  readonly clients?: readonly ClientStyle[];
  readonly vendors?: readonly VendorStyle[];
  readonly seed: number;
  /** Number of concurrent clients. */
  readonly workers?: number;
  /** Called after a fixed number of calls. */
  readonly progress?: (done: number, of: number) => void;
}

const VENDOR_STYLES: readonly VendorStyle[] = ['chat', 'responses', 'messages', 'gemini'];

/** The target models for requests of other styles; in turn, because models of one vendor accept different things. */
const MODELS: Readonly<Record<VendorStyle, readonly string[]>> = {
  chat: ['gpt-4o', 'deepseek-chat'],
  responses: ['gpt-5', 'gpt-4o'],
  messages: ['claude-sonnet-4-5', 'claude-opus-4-8'],
  gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'],
};

/** Exchanges per gateway: the file of a gateway has a limit, and each exchange needs its own channels. */
const BATCH = 200;

/** Plays everything. */
export async function replay(options: ReplayOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < options.exchanges.length; from += BATCH) {
    const exchanges = options.exchanges.slice(from, from + BATCH);
    findings.push(...(await replayBatch({ ...options, exchanges, seed: options.seed + from })));
    options.progress?.(from + exchanges.length, options.exchanges.length);
  }
  return findings;
}

/** A job that waits for a worker. */
type Job = (world: World, worker: number) => Promise<PlayResult>;

async function replayBatch(options: ReplayOptions): Promise<readonly Finding[]> {
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
  // A worker runs one job at a time, and so knows which request the vendor received.
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
      const ask = async (world: World, worker: number): Promise<PlayResult> => ({
        findings: await checkRequest(world, recorded, foreign(worker, style, turn)),
        served: [],
      });
      jobs.push((world, worker) => survived(about, ask(world, worker)));
    }
  }
  return play(jobs, upstreams, workers);
}

interface About extends Pick<Finding, 'client' | 'vendor' | 'check'> {
  readonly recorded: Recorded;
}

/** If a line makes the replay itself fail, that is one finding, and the others continue. */
async function survived({ recorded, ...about }: About, job: Promise<PlayResult>): Promise<PlayResult> {
  try {
    return await job;
  } catch (error) {
    const detail = `the replay tripped: ${error instanceof Error ? error.message : String(error)}`;
    return { findings: [{ what: `${recorded.file}:${recorded.id}`, ...about, result: 'failed', detail }], served: [] };
  }
}

/** Runs all jobs, several at once, in a new world; then checks its records. */
async function play(
  jobs: readonly Job[],
  upstreams: readonly Upstream[],
  workers: number,
): Promise<readonly Finding[]> {
  const world = await openWorld(upstreams);
  const findings: Finding[] = [];
  const served: Served[] = [];
  try {
    let next = 0;
    const work = async (worker: number): Promise<void> => {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
        const found = await job(world, worker);
        findings.push(...found.findings);
        served.push(...found.served);
      }
    };
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
    findings.push(...(await checkBooks(world, served)));
  } finally {
    await world.stop();
  }
  return findings;
}
