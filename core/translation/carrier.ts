/**
 * How sealed thoughts of one vendor travel through a client of another style: as text in the member that such clients send
 * back unchanged (`thinking.signature`, `reasoning.encrypted_content`), with the name of whoever can open it.
 */
import type { Opaque } from '../contracts/conversation.ts';

/** Whatever begins like this was packed by us. */
export const CARRIER = 'turnpike-sealed-1:';

/** The text for the client. */
export function packOpaque({ style, channel, kind, id, value }: Opaque): string {
  return `${CARRIER}${[style, channel ?? '', kind, id ?? ''].map(encodeURIComponent).join(':')}:${value}`;
}

/**
 * The seal of a thought that nobody sealed. By it we know such a thought again when it comes back, and keep it from vendors that
 * refuse every thought but those they sealed themselves.
 */
export const UNSEALED: Opaque = { style: '', kind: 'thought', value: '' };

const KINDS: readonly string[] = ['signature', 'redacted', 'encrypted', 'thought'] satisfies readonly Opaque['kind'][];

/** Everything before the value is shorter than this. */
const MAX_HEAD = 2_048;

/** What was packed; undefined where the text is not of our making. */
export function unpackOpaque(text: string): Opaque | undefined {
  if (!text.startsWith(CARRIER)) return undefined;
  const [style = '', channel = '', kind = '', id = ''] = text
    .slice(CARRIER.length, CARRIER.length + MAX_HEAD)
    .split(':', 4);
  const value = text.slice(CARRIER.length + style.length + channel.length + kind.length + id.length + 4);
  if (!KINDS.includes(kind)) return undefined;
  try {
    return {
      style: decodeURIComponent(style),
      kind: kind as Opaque['kind'],
      value,
      ...(channel !== '' && { channel: decodeURIComponent(channel) }),
      ...(id !== '' && { id: decodeURIComponent(id) }),
    };
  } catch {
    return undefined;
  }
}
