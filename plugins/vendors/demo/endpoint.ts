/** Types of the demo vendor's endpoints: a parsed request, and a reply. */
import type { JsonObject } from '../../../core/plugin.ts';

/** A request: a JSON object, or the fields and files of a multipart body. */
export interface DemoRequest {
  readonly body: JsonObject;
  readonly files: readonly DemoFile[];
}

/** An uploaded file: only its metadata is kept, because fifty of them may arrive at once. */
export interface DemoFile {
  readonly field: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
  /** Its first bytes, at most 1 KiB. */
  readonly start: Buffer;
  /** A hash of all its bytes. */
  readonly digest: string;
}

/** The context of a reply. */
export interface Stamp {
  /** `demo-1`. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** A reply: whole, or in pieces that are sent one by one. */
export interface DemoAnswer {
  readonly status: number;
  /** The content type. */
  readonly type: string;
  readonly body: string | Iterable<string | Buffer>;
}

/** Handles the requests of one path. */
export type Answerer = (request: DemoRequest, stamp: Stamp) => DemoAnswer | Promise<DemoAnswer>;

/** Refuses a request because of one of its fields; `should` ends the sentence that begins with its name. */
export function failure(param: string, should: string): DemoAnswer {
  const error = {
    message: `\`${param}\` ${should}.`,
    type: 'invalid_request_error',
    param,
    code: 'invalid_request_error',
  };
  return { status: 400, type: 'application/json', body: JSON.stringify({ error }) };
}
