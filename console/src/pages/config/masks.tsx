/** Masked secrets. */
import { IconLock } from '../../icons.ts';
import { Muted } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

/** The number of masks in a text. */
export function masksIn(text: string): number {
  return text.match(/•••• [0-9a-f]{6}/g)?.length ?? 0;
}

/** Explains the masks; renders nothing if there are none. */
export function MasksNote({ of }: { readonly of: string }) {
  const text = useText();
  const format = useFormat();
  const count = masksIn(of);
  if (count === 0) return null;
  return (
    <Muted className="masks-note">
      <IconLock size={14} aria-hidden /> {text.masked(format.number(count))}
    </Muted>
  );
}
