/** The owner's side of counters: runs the operations of workers in its memory, and removes the calls of a dead worker from gates. */
import type { GateEntry, WindowTake } from '../../core/contracts/counters.ts';
import type { Json, Peers } from '../../core/plugin.ts';
import type { MemoryCounters } from './memory.ts';
import {
  CORRECT,
  type CorrectMessage,
  INSIDE,
  LEAVE,
  LOOK,
  sentAdmission,
  sentState,
  TAKE,
  type TakeMessage,
  toJson,
} from './messages.ts';

/** Members of gates by the worker's epoch, then by id. */
export type Guests = Map<string, Map<string, GateEntry>>;

/** Serves workers until the returned function is called. `guests` outlive a reload, as the counters do. */
export function serveWorkers(peers: Peers, counters: MemoryCounters, guests: Guests): () => void {
  const on = <T>(topic: string, hear: (message: T, epoch: string) => Json | undefined): void =>
    peers.on(topic, (message, epoch) => hear(message as unknown as T, epoch));

  on<TakeMessage>(TAKE, ({ windows, entry }, epoch) => {
    const admission = counters.take(windows, entry);
    if (admission.ok && entry !== undefined) remember(epoch, entry);
    return toJson(sentAdmission(admission));
  });
  on<CorrectMessage>(CORRECT, ({ atMs, by }) => {
    for (const [window, difference] of by) counters.adjust(window, atMs, difference);
    return undefined;
  });
  on<GateEntry>(LEAVE, (entry, epoch) => {
    counters.leave(entry);
    guests.get(epoch)?.delete(entry.id);
    return undefined;
  });
  on<WindowTake>(LOOK, (window) => toJson(sentState(counters.look(window))));
  on<string>(INSIDE, (gate) => counters.inside(gate));

  function remember(epoch: string, entry: GateEntry): void {
    const ofWorker = guests.get(epoch);
    if (ofWorker === undefined) guests.set(epoch, new Map([[entry.id, entry]]));
    else ofWorker.set(entry.id, entry);
  }

  return peers.onLeft((epoch) => {
    for (const entry of guests.get(epoch)?.values() ?? []) counters.leave(entry);
    guests.delete(epoch);
  });
}
