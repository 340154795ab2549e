/** Calls and their destinations as core makes them, for tests of styles and vendors by themselves. */

import { scanJson } from '../../../core/bytes/json-body.ts';
import type { Call, Upload } from '../../../core/contracts/formats/call.ts';
import type { JsonBody, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Destination, IngressRequest, Patch, Style } from '../../../core/contracts/formats/style.ts';
import type { Attachments } from '../../../core/contracts/formats/vendor.ts';
import { USUAL } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';

/** A value as the body of a request. */
export function bodyOf(value: JsonObject): JsonBody {
  return scanJson(Buffer.from(JSON.stringify(value)));
}

/** A request with these headers, as a style sees it beside its body. */
export function arriving(
  headers: IngressRequest['headers'] = {},
  { params = {}, query = new URLSearchParams() }: Partial<Omit<IngressRequest, 'headers'>> = {},
): IngressRequest {
  return { headers, params, query };
}

/** A request as its style reads it; with `files`, those of a form. */
export function callOf(style: Style, request: JsonObject, files?: readonly Upload[]): Call {
  const body = bodyOf(request);
  const facts = style.ingress!.read(body, arriving(style.ingress!.headers), files);
  return { style: style.name, body, ...facts, ...(files && { files }) };
}

/** Where a request goes. */
export function patchTo(to: Partial<Patch> = {}): Patch {
  return {
    model: 'vendor-name',
    askUsage: false,
    channel: 'main',
    quirks: USUAL,
    warnings: collectWarnings({}),
    ...to,
  };
}

/** The same for a request that may have files; `pages` are what stands at addresses. */
export function destination(to: Partial<Destination> = {}, pages: Readonly<Record<string, Buffer>> = {}): Destination {
  return {
    ...patchTo(to),
    async fetch(url) {
      const bytes = pages[url];
      if (bytes === undefined) throw new Error(`nothing stands at ${url}`);
      return { mediaType: 'application/octet-stream', bytes };
    },
    base64: ({ fileName }) => `(${fileName} in base64)`,
    ...to,
  };
}

/** A file as core hands it to styles. */
export function uploadOf(
  field: string,
  fileName: string,
  bytes: Buffer,
  mediaType = 'application/octet-stream',
): Upload {
  return {
    field,
    fileName,
    mediaType,
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

/** A streamed call of which nothing matters. */
export const ANY_CALL: Call = {
  style: 'any',
  model: 'public-name',
  stream: true,
  asksUsage: true,
  body: bodyOf({}),
  bounds: { inputBytes: 0, media: 0, outputTokens: undefined, choices: 1 },
};

/** For a dialect that writes the body of a request without files. */
export const NO_ATTACHMENTS: Attachments = {
  list: [],
  base64() {
    throw new Error('there are no files');
  },
};
