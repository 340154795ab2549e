/** Whole chat replies. */
import type { AnswerFacts, JsonBody, Usage } from '../../../core/plugin.ts';
import { behindSpace, readVendorError, type VendorError, withCountedOutput } from '../../../core/translation/index.ts';
import { failureIn } from './fields/finish.ts';
import { SEARCHED } from './fields/hosted.ts';
import { usageIn } from './fields/usage.ts';
import { glance } from './glance.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;

/** Reads a reply; undefined if it has neither choices nor an error. */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const choices = body.members.get('choices');
  const vendorError = body.get('error');
  const error = (vendorError ? readVendorError(vendorError) : undefined) ?? brokenOff(body.bytes);
  if (error === undefined && (choices === undefined || body.bytes[choices.start] !== OPEN_ARRAY)) return undefined;
  const reported = usageIn({
    usage: body.get('usage') ?? null,
    x_groq: body.get('x_groq') ?? null,
    // Choices are long, and few vendors put the usage there.
    choices: body.members.has('usage') || !body.holds('"usage"') ? null : (body.get('choices') ?? null),
    service_tier: body.get('service_tier') ?? null,
  });
  const searched = reported !== undefined && body.holds('"url_citation"');
  const used = searched ? { ...reported, uses: { ...SEARCHED, ...reported.uses } } : reported;
  // The output has no count.
  const usage = used?.estimated === true ? withCountedOutput(used, glance(body.bytes, 0).textLength) : used;
  return new ChatFacts(body.bytes, usage, error);
}

class ChatFacts implements AnswerFacts {
  readonly usage: Usage | undefined;
  readonly error: VendorError | undefined;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, usage: Usage | undefined, error: VendorError | undefined) {
    this.#bytes = bytes;
    this.usage = usage;
    this.error = error;
  }

  /** Counted on demand: most vendors report usage. */
  textLength(): number {
    return glance(this.#bytes, 0).textLength;
  }
}

/** The quotes make it unambiguous: inside a JSON string they would be escaped. */
const REASON = Buffer.from('"finish_reason"');

/** The failure in which every choice ends. Searched in the bytes first, because choices are long and failures rare. */
function brokenOff(bytes: Buffer): VendorError | undefined {
  let failure: VendorError | undefined;
  for (let at = bytes.indexOf(REASON); at !== -1; at = bytes.indexOf(REASON, at)) {
    at = behindSpace(bytes, at + REASON.length);
    if (bytes[at] !== COLON) continue;
    at = behindSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) continue;
    failure = failureIn(bytes.toString('latin1', at + 1, bytes.indexOf(QUOTE, at + 1)));
    if (failure === undefined) return undefined;
  }
  return failure;
}
