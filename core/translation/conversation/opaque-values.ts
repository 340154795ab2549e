/**
 * Carries encrypted reasoning of a vendor through a client of another style: as text in the field that such clients
 * send back unchanged (`thinking.signature`, `reasoning.encrypted_content`), with the style, channel and model that can
 * decrypt it.
 */
import type { Opaque } from '../../contracts/formats/conversation.ts';
import type { Origin } from '../../contracts/formats/style.ts';

/** The prefix of packed values. */
export const CARRIER = 'turnpike-sealed-1:';

/** How a string of a body begins that is one (`JsonBody.holds`). */
export const SEALED = `"${CARRIER}`;

/** The text for the client. The model follows the channel; versions that do not know it read a channel that they do not have. */
export function packOpaque({ style, channel = '', model, kind, id = '', value }: Opaque): string {
  const maker = encodeURIComponent(channel) + (model === undefined ? '' : MODEL + encodeURIComponent(model));
  return `${CARRIER}${encodeURIComponent(style)}:${maker}:${kind}:${encodeURIComponent(id)}:${value}`;
}

/** Between channel and model, whose own slashes are encoded. */
const MODEL = '/';

/** Whether this model at this channel made it, as far as that is known. The style must be compared, too. */
export function isMadeBy({ channel, model }: Opaque, by: Origin): boolean {
  return (channel ?? by.channel) === by.channel && (model ?? by.model) === by.model;
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
  const [style = '', maker = '', kind = '', id = ''] = text
    .slice(CARRIER.length, CARRIER.length + MAX_HEAD)
    .split(':', 4);
  const value = text.slice(CARRIER.length + style.length + maker.length + kind.length + id.length + 4);
  if (!KINDS.includes(kind)) return undefined;
  const [channel = '', model = ''] = maker.split(MODEL, 2);
  try {
    return {
      style: decodeURIComponent(style),
      kind: kind as Opaque['kind'],
      value,
      ...(channel !== '' && { channel: decodeURIComponent(channel) }),
      ...(model !== '' && { model: decodeURIComponent(model) }),
      ...(id !== '' && { id: decodeURIComponent(id) }),
    };
  } catch {
    return undefined;
  }
}
