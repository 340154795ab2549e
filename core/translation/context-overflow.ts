/** Recognizes vendors' error messages for a prompt that exceeds the context window; nearly every vendor has its own. */
import type { VendorError } from './vendor-errors.ts';

const CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
]);

const WORDS = new RegExp(
  [
    'prompt (is )?too long',
    'input is too long',
    'input token count.*exceeds the maximum',
    "exceeds? (the |this |your )?(model'?s? )?(available |maximum |max )?context (window|length|size|limit)",
    'context (window|length|size) (exceeds|has been exceeded|exceeded)',
    'context[_ ](length|window)[_ ]exceeded',
    'maximum (context|model|prompt) length (is|of) \\d',
    'too large for model with \\d+ maximum context length',
    'reduce the length of (the|your) (messages|prompt|input)',
    'token count.*exceeds the limit of \\d',
    "(greater|longer) than the (model'?s )?context length",
    'exceeded model token limit',
    'context length is only \\d',
    'configured context size is \\d',
    'input length.*exceeds.*(context length|maximum (allowed )?input length)',
    'prompt exceeds (the )?max(imum)? (context )?length',
    'range of input length should be',
    'tokens in request more than max tokens allowed',
    'total number of tokens in the prompt cannot exceed',
  ].join('|'),
  'i',
);

/** The limit is that of the answer, or of tokens per minute: a shorter prompt would not help. */
const OTHER_LIMITS = /max_(completion_|output_)?tokens\W.{0,60}\b(is|are) too (large|high)|tokens per (min|day)/i;

/** Only this many characters of a message are searched. */
const MAX_READ = 1_000;

/** Whether the message says that the prompt is too long for the model. */
export function isContextOverflow({ message, code }: VendorError): boolean {
  if (CODES.has(code.toLowerCase())) return true;
  const words = message.slice(0, MAX_READ);
  return WORDS.test(words) && !OTHER_LIMITS.test(words);
}

/** A separate number, not a part of a model's name or a date. */
const NUMBER = /(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w-])|(?<![\w.,-])\d{3,}(?![\w-])/g;

/**
 * The tokens of the prompt and the model's maximum, if the message contains both. The larger number is the prompt's.
 */
export function overflowTokens(message: string): { readonly prompt: number; readonly most: number } | undefined {
  const [a, b] = [...message.slice(0, MAX_READ).matchAll(NUMBER)].map(([digits]) => Number(digits.replaceAll(',', '')));
  return a === undefined || b === undefined || a === b ? undefined : { prompt: Math.max(a, b), most: Math.min(a, b) };
}
