/** What the demo vendor's endpoints are made of: a request that was read, and what is answered. */
import type { JsonObject } from '../../../core/plugin.ts';

/** A request: a JSON object, or the fields of a form with its files. */
export interface DemoRequest {
  readonly body: JsonObject;
  readonly files: readonly DemoFile[];
}

/** A file of a form: what is known of it when it has passed. Fifty of them may come at once, so none is held. */
export interface DemoFile {
  readonly field: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
  /** Its first bytes, a MiB at most. */
  readonly start: Buffer;
  /** Of all its bytes, so that another file has another one. */
  readonly digest: string;
}

/** What every answer may carry. */
export interface Stamp {
  /** `demo-1`. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** An answer: whole, or in pieces that go out one by one. */
export interface DemoAnswer {
  readonly status: number;
  /** The content type. */
  readonly type: string;
  readonly body: string | Iterable<string | Buffer>;
}

/** Answers the requests of one path. */
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
