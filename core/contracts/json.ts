/** JSON values, and bodies that are scanned once and parsed on demand. */

/** A value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };
/** Its objects. */
export type JsonObject = { readonly [member: string]: Json };

/** Where a value stands: byte offsets into the body, `end` behind the last byte. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A JSON object whose top level is known and whose values are parsed on demand. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly members: ReadonlyMap<string, Span>;
  /** Bytes of names and values that a vendor reads as text; base64 media is not counted. */
  readonly textBytes: number;
  /** Strings that hold base64 media or a data URL, or say where a file is. */
  readonly media: number;
  has(name: string): boolean;
  /** The parsed value of one member; undefined where there is none. */
  get(name: string): Json | undefined;
  /** The whole body as a value; parsed once. */
  tree(): Json;
  /** The whole body to be translated: names stand in it for most of the bytes of large media. Parsed once. */
  outline(): Outline;
  /** Does that for a large body so that others have their turn in between; undefined where there is nothing to be waited for. */
  unfold(): Promise<void> | undefined;
  /** The bytes with some members replaced (JSON text), added or removed (undefined); everything else stays as it is. */
  patched(changes: Readonly<Record<string, string | undefined>>): Buffer;
  /** The same in pieces, of which those that stay as they are were not copied. */
  pieces(changes: Readonly<Record<string, string | undefined>>): readonly Buffer[];
}

/** A body as a value, and what the names in it stand for. */
export interface Outline {
  readonly tree: Json;
  readonly bytesOf: ReadonlyMap<string, Buffer>;
}
