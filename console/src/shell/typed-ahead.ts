/** What is typed after a field was called and before it has the focus. */
import { useCallback, useEffect, useRef } from 'react';

/** Keeps it, from the moment `isOpen` is true until the returned function takes it. */
export function useTypedAhead(isOpen: boolean): () => string {
  const typed = useRef('');
  const isWaiting = useRef(false);
  useEffect(() => {
    typed.current = '';
    isWaiting.current = isOpen;
    if (!isOpen) return undefined;
    const keep = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (!isWaiting.current || ctrlKey || metaKey || altKey) return;
      if (key === 'Backspace') typed.current = typed.current.slice(0, -1);
      else if (key.length === 1) typed.current += key;
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener('keydown', keep, true);
    return () => document.removeEventListener('keydown', keep, true);
  }, [isOpen]);
  return useCallback(() => {
    isWaiting.current = false;
    const text = typed.current;
    typed.current = '';
    return text;
  }, []);
}
