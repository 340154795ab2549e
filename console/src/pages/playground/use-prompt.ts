/** The input of the signed-in user, kept in the session storage. */
import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useRef, useState } from 'react';
import { EMPTY, type Prompt, parseStored, storedText } from './prompt.ts';

const PLACE = 'turnpike.playground';
const KEEP_AFTER_MS = 300;

/** The input, how to change it, and how to clear and restore it. */
export interface PromptState {
  readonly prompt: Prompt;
  change(change: Partial<Prompt> | ((before: Prompt) => Prompt)): void;
  clear(): void;
  /** Undefined unless it was just cleared. */
  readonly undo: (() => void) | undefined;
}

/** `owner`: the input of another user is not shown. */
export function usePrompt(owner: number): PromptState {
  const [prompt, setPrompt] = useState(() => parseStored(read(), owner));
  const [cleared, setCleared] = useState<Prompt>();
  const latest = useRef(prompt);
  latest.current = prompt;
  const store = useCallback(() => {
    try {
      sessionStorage.setItem(PLACE, storedText(latest.current, owner));
    } catch {
      // Storage is full or forbidden: the input is not kept.
    }
  }, [owner]);
  const keepSoon = useDebouncedCallback(store, KEEP_AFTER_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: stores each change, debounced
  useEffect(() => keepSoon(), [prompt]);
  useEffect(() => store, [store]);
  const change = useCallback((update: Partial<Prompt> | ((before: Prompt) => Prompt)): void => {
    setCleared(undefined);
    setPrompt((before) => (typeof update === 'function' ? update(before) : { ...before, ...update }));
  }, []);
  return {
    prompt,
    change,
    clear() {
      setCleared(prompt);
      setPrompt(EMPTY);
    },
    undo:
      cleared === undefined
        ? undefined
        : () => {
            setPrompt(cleared);
            setCleared(undefined);
          },
  };
}

function read(): string | null {
  try {
    return sessionStorage.getItem(PLACE);
  } catch {
    return null;
  }
}
