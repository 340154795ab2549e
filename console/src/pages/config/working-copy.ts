/** The text that the console edits: a copy of the configuration in this browser tab, which forms and the editor change until it is saved. */
import { useSyncExternalStore } from 'react';

/** A saved text with its revision. */
export interface Saved {
  readonly text: string;
  readonly revision: string;
}

/** The changed text, and what it was made from. Undefined: nothing has been changed. A module variable, so that it survives navigation. */
let copy: { readonly text: string; readonly base: Saved } | undefined;
const listeners = new Set<() => void>();

/** The working copy. */
export interface WorkingCopy {
  readonly text: string;
  readonly base: Saved;
  readonly isChanged: boolean;
  /** The configuration has been changed by another request since the copy was made. */
  readonly isStale: boolean;
  write(text: string): void;
  discard(): void;
  /** The changes are now those between the current configuration and this text. */
  restart(text: string): void;
}

function set(next: typeof copy): void {
  copy = next === undefined || next.text === next.base.text ? undefined : next;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The copy; an unchanged one follows the current configuration. */
export function useWorkingCopy(current: Saved): WorkingCopy {
  const changed = useSyncExternalStore(listen, () => copy);
  const base = changed?.base ?? current;
  return {
    text: changed?.text ?? current.text,
    base,
    isChanged: changed !== undefined,
    isStale: changed !== undefined && base.revision !== current.revision,
    write: (text) => set({ text, base }),
    discard: () => set(undefined),
    restart: (text) => set({ text, base: { text: current.text, revision: current.revision } }),
  };
}
