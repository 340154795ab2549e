/** The calls that run beside each other, apart from what shows them: a word that comes redraws one column, and not the page. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { begun, type CallState, makeCall, type Outgoing } from './calling.ts';
import type { Way } from './prompt.ts';

/** One call for each way at most. */
export interface Calls {
  get(way: Way): CallState | undefined;
  /** True while any of them is not over. */
  isRunning(): boolean;
  send(outgoing: Outgoing, keyId: number, whenOver: (state: CallState) => void): void;
  stop(way?: Way): void;
  /** Forgets them all. */
  clear(): void;
  subscribe(changed: () => void): () => void;
}

/** Makes the place where they are kept. */
function createCalls(): Calls {
  const states = new Map<Way, CallState>();
  const running = new Map<Way, AbortController>();
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const forget = (way: Way): void => {
    running.get(way)?.abort();
    running.delete(way);
    const sound = states.get(way)?.answer.sound ?? '';
    if (sound !== '') URL.revokeObjectURL(sound);
    states.delete(way);
  };
  return {
    get: (way) => states.get(way),
    isRunning: () => running.size > 0,
    send(outgoing, keyId, whenOver) {
      const { way } = outgoing;
      forget(way);
      const control = new AbortController();
      running.set(way, control);
      states.set(way, begun(outgoing));
      changed();
      const tell = (state: CallState): void => {
        // Another one may have taken its place.
        if (running.get(way) !== control) return;
        states.set(way, state);
        changed();
      };
      void makeCall(outgoing, keyId, tell, control.signal).finally(() => {
        if (running.get(way) !== control) return;
        running.delete(way);
        changed();
        const state = states.get(way);
        if (state !== undefined) whenOver(state);
      });
    },
    stop(way) {
      for (const [name, control] of running) if (way === undefined || name === way) control.abort();
    },
    clear() {
      for (const way of [...states.keys()]) forget(way);
      changed();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The calls of a page; they end with it. */
export function useCalls(): Calls {
  const [calls] = useState(createCalls);
  useEffect(() => () => calls.clear(), [calls]);
  return calls;
}

/** How one stands. */
export function useCall(calls: Calls, way: Way): CallState | undefined {
  return useSyncExternalStore(calls.subscribe, () => calls.get(way));
}

/** Whether any is running. */
export function useIsRunning(calls: Calls): boolean {
  return useSyncExternalStore(calls.subscribe, calls.isRunning);
}
