/** The store of running calls, outside of React, so that a token rerenders one column and not the page. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { type CallState, initialState, makeCall, type Outgoing } from './calling.ts';
import type { Endpoint } from './prompt.ts';

/** At most one call per API. */
export interface Calls {
  get(endpoint: Endpoint): CallState | undefined;
  /** True while any call is running. */
  isRunning(): boolean;
  send(outgoing: Outgoing, keyId: number, whenOver: (state: CallState) => void): void;
  stop(endpoint?: Endpoint): void;
  /** Removes all calls. */
  clear(): void;
  subscribe(changed: () => void): () => void;
}

function createCalls(): Calls {
  const states = new Map<Endpoint, CallState>();
  const running = new Map<Endpoint, AbortController>();
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const forget = (endpoint: Endpoint): void => {
    running.get(endpoint)?.abort();
    running.delete(endpoint);
    const sound = states.get(endpoint)?.answer.sound ?? '';
    if (sound !== '') URL.revokeObjectURL(sound);
    states.delete(endpoint);
  };
  return {
    get: (endpoint) => states.get(endpoint),
    isRunning: () => running.size > 0,
    send(outgoing, keyId, whenOver) {
      const { endpoint } = outgoing;
      forget(endpoint);
      const control = new AbortController();
      running.set(endpoint, control);
      states.set(endpoint, initialState(outgoing));
      changed();
      const onState = (state: CallState): void => {
        // A newer call may have replaced it.
        if (running.get(endpoint) !== control) return;
        states.set(endpoint, state);
        changed();
      };
      void makeCall(outgoing, keyId, onState, control.signal).finally(() => {
        if (running.get(endpoint) !== control) return;
        running.delete(endpoint);
        changed();
        const state = states.get(endpoint);
        if (state !== undefined) whenOver(state);
      });
    },
    stop(endpoint) {
      for (const [name, control] of running) if (endpoint === undefined || name === endpoint) control.abort();
    },
    clear() {
      for (const endpoint of [...states.keys()]) forget(endpoint);
      changed();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The calls of a page; cancelled when it unmounts. */
export function useCalls(): Calls {
  const [calls] = useState(createCalls);
  useEffect(() => () => calls.clear(), [calls]);
  return calls;
}

/** The state of a call. */
export function useCall(calls: Calls, endpoint: Endpoint): CallState | undefined {
  return useSyncExternalStore(calls.subscribe, () => calls.get(endpoint));
}

/** Whether any call is running. */
export function useIsRunning(calls: Calls): boolean {
  return useSyncExternalStore(calls.subscribe, calls.isRunning);
}
