/** JSON values, and bodies that are scanned once and parsed on demand. */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };
/** A JSON object. */
export type JsonObject = { readonly [member: string]: Json };

/** The position of a value: byte offsets into the body; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A JSON object whose top level is known and whose values are parsed on demand. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly members: ReadonlyMap<string, Span>;
  /** Bytes of names and values that are text for the vendor; base64 media is not counted. */
  readonly textBytes: number;
  /** Strings that contain base64 media, a data URL, or the URL of a file. */
  readonly media: number;
  has(name: string): boolean;
  /**
   * Whether the bytes have this text, which begins with the quote of a name or a string: `"tool_calls"`. Most texts that are not there are not searched
   * for, and none is in large base64 media.
   */
  holds(text: string): boolean;
  /** Whether there is a list without items. */
  readonly hasEmptyList: boolean;
  /** The parsed value of one member; undefined if it is missing. */
  get(name: string): Json | undefined;
  /** The whole body as a value; parsed once. */
  tree(): Json;
  /** The whole body for translation: most bytes of large media are replaced by placeholders. Parsed once. */
  outline(): Outline;
  /** Does that for a large body while yielding to other requests; undefined if no waiting is needed. */
  unfold(): Promise<void> | undefined;
  /** The bytes with some members replaced (JSON text), added or removed (undefined); everything else is unchanged. */
  patched(changes: Readonly<Record<string, string | undefined>>): Buffer;
  /** The same in pieces; unchanged bytes are not copied. */
  pieces(changes: Readonly<Record<string, string | undefined>>): readonly Buffer[];
}

/** A body as a value, and the media behind its placeholders. */
export interface Outline {
  readonly tree: Json;
  readonly bytesOf: ReadonlyMap<string, Buffer>;
}
