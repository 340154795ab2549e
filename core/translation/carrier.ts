/**
 * Carries encrypted reasoning of a vendor through a client of another style: as text in the field that such clients
 * send back unchanged (`thinking.signature`, `reasoning.encrypted_content`), with the style and channel that can
 * decrypt it.
 */
import type { Opaque } from '../contracts/conversation.ts';

/** The prefix of packed values. */
export const CARRIER = 'turnpike-sealed-1:';

/** The text for the client. */
export function packOpaque({ style, channel, kind, id, value }: Opaque): string {
  return `${CARRIER}${[style, channel ?? '', kind, id ?? ''].map(encodeURIComponent).join(':')}:${value}`;
}

/**
 * The signature for reasoning that has none. It identifies such reasoning when it comes back, so that it is not sent to
 * vendors that accept only their own signed reasoning.
 */
export const UNSEALED: Opaque = { style: '', kind: 'thought', value: '' };

const KINDS: readonly string[] = ['signature', 'redacted', 'encrypted', 'thought'] satisfies readonly Opaque['kind'][];

/** Maximum length of everything before the value. */
const MAX_HEAD = 2_048;

/** The packed value; undefined if the text was not created by `pack`. */
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
