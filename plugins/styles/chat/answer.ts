/** Whole chat answers. */
import type { AnswerFacts, JsonBody, Usage } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import { behindSpace, readVendorError } from '../../../core/translation/index.ts';
import { failureIn } from './finish.ts';
import { glance } from './glance.ts';
import { CITED, SEARCHED } from './hosted.ts';
import { usageIn } from './usage.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;

/** What an answer tells; undefined where it has neither choices nor an error. */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const choices = body.members.get('choices');
  const said = body.get('error');
  const error = (said ? readVendorError(said) : undefined) ?? brokenOff(body.bytes);
  if (error === undefined && (choices === undefined || body.bytes[choices.start] !== OPEN_ARRAY)) return undefined;
  const told = usageIn({
    usage: body.get('usage') ?? null,
    x_groq: body.get('x_groq') ?? null,
    service_tier: body.get('service_tier') ?? null,
  });
  const searched = told !== undefined && body.bytes.includes(CITED);
  // Some send zeros in place of a count.
  const isCounted = told !== undefined && told.input + told.output > 0;
  const usage = isCounted && searched ? { ...told, uses: { ...SEARCHED, ...told.uses } } : told;
  return new ChatFacts(body.bytes, isCounted ? usage : undefined, error);
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

  /** Counted only where somebody asks: most vendors say what they used. */
  textLength(): number {
    return glance(this.#bytes, 0).textLength;
  }
}

/** With its quotes it can be no word of a text: those have backslashes before them. */
const REASON = Buffer.from('"finish_reason"');

/** The failure in which every choice ends; told from the bytes, for choices are long and hardly any fails. */
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
