/** Base64 media in requests: data URLs taken apart and put together, and what their first bytes say they are. */

/** Media in a data URL. */
export interface Media {
  /** Lower case, without parameters; as its first bytes say where they are known, else as it was declared. */
  readonly mediaType: string;
  /** Standard base64 with padding. */
  readonly data: string;
}

/** Reads `data:…;base64,…`, or base64 alone where `declared` says what it is; undefined where it is neither. */
export function readDataUrl(text: string, declared?: string): Media | undefined {
  const match = /^data:([^,;]*)((?:;[^,;]*)*),/is.exec(text.slice(0, 512));
  if (match === null) {
    if (declared === undefined || !isBase64(text)) return undefined;
    return { mediaType: trueType(text, declared), data: standard(text) };
  }
  const [whole, type = '', parameters = ''] = match;
  const content = text.slice(whole.length);
  const said = type === '' ? (declared ?? 'text/plain') : type;
  if (!/;base64$/i.test(parameters)) {
    try {
      return { mediaType: tidy(said), data: Buffer.from(decodeURIComponent(content)).toString('base64') };
    } catch {
      return undefined;
    }
  }
  return isBase64(content) ? { mediaType: trueType(content, said), data: standard(content) } : undefined;
}

/** `data:image/png;base64,…` */
export function dataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${data}`;
}

/** What base64 holds: as its first bytes say where they are known, else what it was declared to be. */
export function trueType(data: string, declared: string): string {
  return sniff(data) ?? tidy(declared);
}

/** Whether media that begins so are pictures, sound or pages, which nobody reads as text: a data URL, or base64 alone. */
export function isNoText(beginning: string): boolean {
  if (/^data:(image|audio|video)\/[^,]*;base64,/i.test(beginning)) return true;
  return sniff(beginning.replace(/^data:[^,]*;base64,/i, '')) !== undefined;
}

/** The media type as it is registered. */
function tidy(type: string): string {
  const lower = type.trim().toLowerCase();
  return lower === 'image/jpg' ? 'image/jpeg' : lower;
}

/**
 * Letters of the usual and of the url-safe alphabet, then padding. Only the ends of the letters are looked at: a body may hold
 * megabytes of them.
 */
function isBase64(text: string): boolean {
  const padding = text.indexOf('=');
  const letters = padding === -1 ? text : text.slice(0, padding);
  const looked = letters.length > 2_048 ? letters.slice(0, 1_024) + letters.slice(-1_024) : letters;
  const isPadded = padding === -1 || /^={1,2}\s*$/.test(text.slice(padding));
  return text.length > 0 && isPadded && /^[A-Za-z0-9+/_\-\s]*$/.test(looked);
}

function standard(text: string): string {
  const clean = /[\s\-_]/.test(text) ? text.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/') : text;
  // The padding stands at the end, if there is any.
  const padding = clean.indexOf('=');
  const bare = padding === -1 ? clean : clean.slice(0, padding);
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

/** The first bytes of formats that clients misname, by what base64 makes of them. */
const STARTS: readonly (readonly [start: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', 'application/pdf'],
];

function sniff(base64: string): string | undefined {
  const start = standard(base64.slice(0, 32));
  if (/^UklGR.{6,7}XRUJQ/.test(start)) return 'image/webp';
  return STARTS.find(([known]) => start.startsWith(known))?.[1];
}
