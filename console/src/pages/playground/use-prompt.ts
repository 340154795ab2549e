/** The prompt of whoever is signed in: it stays while they look at other pages, and ends with the window. */
import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useRef, useState } from 'react';
import { EMPTY, keptText, type Prompt, readKept } from './prompt.ts';

const PLACE = 'turnpike.playground';
const KEEP_AFTER_MS = 300;

/** What is typed, how it changes, and how it is cleared and brought back. */
export interface Typing {
  readonly prompt: Prompt;
  change(change: Partial<Prompt> | ((before: Prompt) => Prompt)): void;
  clear(): void;
  /** Undefined unless it was cleared just now. */
  readonly undo: (() => void) | undefined;
}

/** `owner`: of somebody else nothing is shown. */
export function usePrompt(owner: number): Typing {
  const [prompt, setPrompt] = useState(() => readKept(read(), owner));
  const [cleared, setCleared] = useState<Prompt>();
  const latest = useRef(prompt);
  latest.current = prompt;
  const keep = useCallback(() => {
    try {
      sessionStorage.setItem(PLACE, keptText(latest.current, owner));
    } catch {
      // Full, or forbidden: then it is forgotten.
    }
  }, [owner]);
  const keepSoon = useDebouncedCallback(keep, KEEP_AFTER_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change is kept a moment later
  useEffect(() => keepSoon(), [prompt]);
  useEffect(() => keep, [keep]);
  const change = useCallback((asked: Partial<Prompt> | ((before: Prompt) => Prompt)): void => {
    setCleared(undefined);
    setPrompt((before) => (typeof asked === 'function' ? asked(before) : { ...before, ...asked }));
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
