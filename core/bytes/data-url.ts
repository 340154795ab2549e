/** Base64 media in requests: parses and creates data URLs, and detects media types from the first bytes. */

/** Media in a data URL. */
export interface Media {
  /** Lower case, without parameters; detected from the first bytes if possible, otherwise as declared. */
  readonly mediaType: string;
  /** Standard base64 with padding. */
  readonly data: string;
}

/** Parses `data:…;base64,…`, or plain base64 if `declared` gives its type; undefined if it is neither. */
export function readDataUrl(text: string, declared?: string): Media | undefined {
  const match = /^data:([^,;]*)((?:;[^,;]*)*),/is.exec(text.slice(0, 512));
  if (match === null) {
    if (declared === undefined || !isBase64(text)) return undefined;
    return { mediaType: trueType(text, declared), data: standard(text) };
  }
  const [whole, type = '', parameters = ''] = match;
  const content = text.slice(whole.length);
  const declaredType = type === '' ? (declared ?? 'text/plain') : type;
  if (!/;base64$/i.test(parameters)) {
    try {
      return { mediaType: tidy(declaredType), data: Buffer.from(decodeURIComponent(content)).toString('base64') };
    } catch {
      return undefined;
    }
  }
  return isBase64(content) ? { mediaType: trueType(content, declaredType), data: standard(content) } : undefined;
}

/** `data:image/png;base64,…` */
export function dataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${data}`;
}

/** The media type of base64 data: detected from the first bytes if possible, otherwise as declared. */
export function trueType(data: string, declared: string): string {
  return sniff(data) ?? tidy(declared);
}

/** Whether data with this beginning is an image, audio or a document, never text: a data URL, or plain base64. */
export function isNoText(beginning: string): boolean {
  if (/^data:(image|audio|video)\/[^,]*;base64,/i.test(beginning)) return true;
  return sniff(beginning.replace(/^data:[^,]*;base64,/i, '')) !== undefined;
}

/** The registered media type. */
function tidy(type: string): string {
  const lower = type.trim().toLowerCase();
  return lower === 'image/jpg' ? 'image/jpeg' : lower;
}

/** Of the standard or url-safe alphabet, then padding. Only both ends are checked: a body may contain megabytes. */
function isBase64(text: string): boolean {
  const padding = text.indexOf('=');
  const letters = padding === -1 ? text : text.slice(0, padding);
  const looked = letters.length > 2_048 ? letters.slice(0, 1_024) + letters.slice(-1_024) : letters;
  const isPadded = padding === -1 || /^={1,2}\s*$/.test(text.slice(padding));
  return text.length > 0 && isPadded && /^[A-Za-z0-9+/_\-\s]*$/.test(looked);
}

function standard(text: string): string {
  const clean = /[\s\-_]/.test(text) ? text.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/') : text;
  // Padding may only be at the end.
  const padding = clean.indexOf('=');
  const bare = padding === -1 ? clean : clean.slice(0, padding);
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

/** The base64 of the first bytes of formats that clients often declare wrongly. */
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
