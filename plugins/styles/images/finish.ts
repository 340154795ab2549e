/** Converts a whole reply to what the client requested: a URL or base64, in the plain form. */
import type { Awaitable, Call, Clock, Finishing, Json, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { dataUrl, readDataUrl } from '../../../core/translation/index.ts';
import { isText, itemsOf, structuredItems } from './answer.ts';
import { imageTypeOf, imageTypeOfBase64 } from './media-type.ts';

/** Creates the conversion of a reply; undefined if it can be forwarded as it is. */
export function finisher(clock: Clock): (body: JsonBody, call: Call, to: Finishing) => Awaitable<Buffer | undefined> {
  return (body, call, to) => {
    // Events of a stream have base64.
    const requested = call.stream ? 'b64_json' : call.body.get('response_format');
    const items = itemsOf(body) ?? [];
    const isOther = (item: JsonObject): boolean =>
      isText(item[opposite(requested)]) && !isText(item[String(requested)]);
    const converts = (requested === 'url' || requested === 'b64_json') && items.some(isOther);
    const created =
      typeof body.get('created') === 'number' ? [] : [['created', Math.floor(clock.now() / 1_000)] as const];
    const isStructured = structuredItems(body) !== undefined && !body.has('data');
    if (!converts && !isStructured && created.length === 0) return undefined;
    const write = (data: readonly JsonObject[]): Buffer => {
      if (isStructured) return Buffer.from(JSON.stringify({ ...Object.fromEntries(created), data }));
      const changes = [...created, ...(converts ? [['data', data] as const] : [])];
      return body.patched(Object.fromEntries(changes.map(([name, value]) => [name, JSON.stringify(value)])));
    };
    if (!converts) return write(items);
    if (requested === 'url') return write(items.map((item) => (isOther(item) ? asUrl(item, to) : item)));
    return Promise.all(items.map((item) => (isOther(item) ? asBytes(item, to) : item))).then(write);
  };
}

function opposite(format: Json | undefined): string {
  return format === 'url' ? 'b64_json' : 'url';
}

/** The gateway does not host images, so the URL is a `data:` URL. */
function asUrl({ b64_json: data, ...rest }: JsonObject, { losses }: Finishing): JsonObject {
  losses.change('response_format', 'hint');
  return {
    ...rest,
    url: dataUrl({ mediaType: imageTypeOfBase64(data as string) ?? 'image/png', data: data as string }),
  };
}

/** If the gateway cannot fetch an image now, the client may still be able to. */
async function asBytes(item: JsonObject, { losses, fetch }: Finishing): Promise<JsonObject> {
  const { url, ...rest } = item;
  try {
    const inline = readDataUrl(url as string);
    if (inline !== undefined) return { ...rest, b64_json: inline.data };
    const { mediaType, bytes } = await fetch(url as string);
    if (!mediaType.startsWith('image/') && imageTypeOf(bytes) === undefined) throw new Error('that is no image');
    return { ...rest, b64_json: bytes.toString('base64') };
  } catch {
    losses.change('response_format');
    return item;
  }
}
