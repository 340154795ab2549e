/** The disk space of a call: the growth of the database over many calls of every kind, divided by their number. */
import { setTimeout } from 'node:timers/promises';
import { write } from './folder.ts';
import { addAccounts, bytesOf } from './grown.ts';
import type { Load, LoadTools } from './load.ts';
import { CORE } from './machine.ts';
import { askOf, MESSAGES, RESPONSES } from './pairs.ts';
import { chatChannel, oneModel, prepareTurnpike } from './turnpike.ts';
import { CONNECTIONS } from './warm.ts';

export interface Storage {
  readonly bytesPerCall: number;
  readonly calls: number;
}

/** Their keys make calls in turns. */
const ACCOUNTS = 100;
/** The kinds of calls alternate this often. */
const TURNS = 5;
/** Time until the last batch is written. */
const SETTLED_MS = 1_000;
/** Calls before the first measurement, so that tables have their first pages. */
const BEFORE = 1_000;

/** Makes this many calls. */
export async function measureStorage(tools: LoadTools, calls: number): Promise<Storage> {
  const vendor = await tools.vendor(2, 0);
  const channel = chatChannel(vendor.port);
  const turnpike = await prepareTurnpike({ ...oneModel(vendor.port), chat: channel });
  await (await turnpike.start()).process.stop();
  const secrets = write('secrets-storage', addAccounts(turnpike.storeFile, ACCOUNTS).join('\n'));

  /**
   * The kinds of a hundred calls, by client style, whole and streamed. Streams of messages clients have an end that the
   * load generator does not recognize.
   */
  const kinds: readonly (readonly [percent: number, load: Pick<Load, 'ask' | 'stream'>])[] = [
    [45, { stream: false }],
    [25, { stream: true }],
    [10, { stream: false, ask: askOf(MESSAGES, false) }],
    [12, { stream: false, ask: askOf(MESSAGES, true) }],
    [8, { stream: false, ask: askOf(RESPONSES, false) }],
  ];
  /** Makes calls of every kind, and returns the number of successful ones. */
  const make = async (count: number, turns: number): Promise<number> => {
    const server = { ...(await turnpike.start({ cores: CORE.both })), headers: [] };
    let answered = 0;
    for (let turn = 0; turn < turns; turn++) {
      for (const [percent, load] of kinds) {
        const requests = Math.round((count * percent) / 100 / turns);
        const sample = await tools.measure(server, { connections: CONNECTIONS, ...load, requests, secrets });
        if (sample.failed > 0)
          throw new Error(`${sample.failed} of ${requests} calls failed while storage was measured`);
        answered += sample.answered;
      }
    }
    await setTimeout(SETTLED_MS);
    await server.process.stop();
    return answered;
  };

  await make(BEFORE, 1);
  const before = bytesOf(turnpike.storeFile);
  const made = await make(calls, TURNS);
  const bytesPerCall = (bytesOf(turnpike.storeFile) - before) / made;
  await vendor.process.stop();
  return { bytesPerCall, calls: made };
}
