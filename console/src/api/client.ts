/** Client of `/api`: typed by its OpenAPI description. Refusals become errors; if a second factor is required, asks for it and retries. */
import type { Operations } from './operations.ts';

/** `GET /api/user/self`. */
export type Operation = keyof Operations;
type Of<O extends Operation, Part extends string> = Operations[O] extends { readonly [K in Part]: infer T } ? T : never;
/** The data that an operation returns. */
export type Data<O extends Operation> = Of<O, 'data'>;
/** The fields of its body. */
export type Body<O extends Operation> = Of<O, 'body'>;
/** The parameters of its query. */
export type Search<O extends Operation> = Of<O, 'search'>;

/** The parts of a request that the operation accepts. */
export type Input<O extends Operation> = (Operations[O] extends { readonly params: infer P }
  ? { readonly params: Readonly<Record<keyof P, string | number>> }
  : { readonly params?: never }) &
  (Operations[O] extends { readonly search: infer S }
    ? { readonly search?: Partial<S> | undefined }
    : { readonly search?: never }) &
  (Operations[O] extends { readonly body: infer B } ? { readonly body: B } : { readonly body?: never });
/** The same as arguments: optional if nothing has to be sent. */
export type AskedArguments<O extends Operation> = Record<string, never> extends Input<O> ? [Input<O>?] : [Input<O>];

/** A refusal of `/api`, or no answer: `code` is then `offline` or `cancelled`. */
export class Refusal extends Error {
  readonly status: number;
  /** `wrong_password`. */
  readonly code: string;
  /** The invalid field; empty if there is none. */
  readonly param: string;
  /** Seconds until a retry may succeed; undefined if unknown. */
  readonly retryAfter: number | undefined;
  constructor(status: number, code: string, message: string, param = '', retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.retryAfter = retryAfter;
  }
}

/** The base URL of the console, with a trailing slash: `https://example.com/prefix/console/`. */
export const HOME = new URL('./', document.baseURI);
/** The base URL for clients, without a trailing slash: `https://example.com/prefix`. */
export const GATEWAY = new URL('..', HOME).href.replace(/\/$/, '');

/** Asks the user for a second factor; true if they confirmed. */
type Verifier = () => Promise<boolean>;
let verifier: Verifier = () => Promise.resolve(false);
/** Sets the function that asks for a second factor. */
export function verifyWith(ask: Verifier): void {
  verifier = ask;
}

/** Sends a request and resolves with the data of the envelope. Rejects with a `Refusal`. */
export async function call<O extends Operation>(operation: O, ...[input]: AskedArguments<O>): Promise<Data<O>> {
  const body = (await request(operation, (input ?? {}) as LooseInput)) as { success?: boolean; data?: unknown };
  return (body?.success === true && 'data' in body ? body.data : body) as Data<O>;
}

/** The same for operations that begin a payment: the browser posts `data` to `url`. */
export async function callPayment<O extends Operation>(
  operation: O,
  ...[input]: AskedArguments<O>
): Promise<{ readonly data: Data<O>; readonly url?: string }> {
  return (await request(operation, (input ?? {}) as LooseInput)) as { data: Data<O>; url?: string };
}

let ambient: AbortSignal | undefined;
/** Runs `work`. The signal aborts a request that `work` begins before its first `await`. */
export function abortable<T>(signal: AbortSignal | undefined, work: () => T): T {
  ambient = signal;
  try {
    return work();
  } finally {
    ambient = undefined;
  }
}

interface LooseInput {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

async function request(operation: Operation, input: LooseInput): Promise<unknown> {
  const signal = ambient;
  try {
    return await once(operation, input, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'verification_required' || !(await verifier())) throw error;
    return once(operation, input, signal);
  }
}

/** The URL of an operation, for links to files. */
function addressOf<O extends Operation>(operation: O, input: Pick<LooseInput, 'params' | 'search'> = {}): string {
  const path = operation.slice(operation.indexOf(' ') + 1);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input.params?.[name] ?? '')),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.search ?? {})) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return `${GATEWAY}${filled}${query.size > 0 ? `?${query}` : ''}`;
}

async function once(operation: Operation, input: LooseInput, signal: AbortSignal | undefined): Promise<unknown> {
  const method = operation.slice(0, operation.indexOf(' '));
  try {
    const response = await fetch(addressOf(operation, input), {
      method,
      headers: {
        accept: 'application/json',
        'x-requested-with': 'turnpike-console',
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(signal && { signal }),
    });
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (signal?.aborted === true)
      throw new Refusal(0, 'cancelled', 'Cancelled before the gateway answered. Check whether it was done already.');
    throw new Refusal(0, 'offline', 'The gateway does not answer. Is it running, and are you online?');
  }
}

/** Decodes the JSON of an answer. Rejects with a `Refusal` if it is an error, in any of the API's error formats. */
async function readAnswer(response: Response): Promise<unknown> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    if (response.ok && !/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) return text;
    if (response.ok) throw new Refusal(response.status, 'not_the_gateway', 'A page was answered in the place of data.');
    throw new Refusal(response.status, 'unreadable', `The gateway answered ${response.status}.`);
  }
  const error = body as {
    success?: boolean;
    message?: string;
    data?: unknown;
    code?: string;
    param?: string;
    error?: { message?: string; code?: string; param?: string | null };
  } | null;
  if (response.ok && error?.success !== false) return body;
  // Payment refusals have their message in `data`.
  const message = error?.error?.message ?? (typeof error?.data === 'string' ? error.data : error?.message);
  throw new Refusal(
    response.status,
    error?.error?.code ?? error?.code ?? 'failed',
    message ?? `The gateway answered ${response.status}.`,
    error?.error?.param ?? error?.param ?? '',
    Number(response.headers.get('retry-after') ?? 0) || undefined,
  );
}

/** Downloads a file of an operation and lets the browser save it. Rejects with a `Refusal`. */
export async function saveFile<O extends Operation>(
  operation: O,
  name: string,
  input: Pick<LooseInput, 'params' | 'search'> = {},
): Promise<void> {
  const fetched = async (): Promise<Blob> => {
    const response = await fetch(addressOf(operation, input), { headers: { 'x-requested-with': 'turnpike-console' } });
    if (!response.ok) await readAnswer(response);
    return response.blob();
  };
  const blob = await fetched().catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'verification_required' || !(await verifier())) throw error;
    return fetched();
  });
  saveBytes(name, blob);
}

/** Lets the browser save bytes as a file. */
export function saveBytes(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Goes to a URL from the gateway. Only http and https URLs are allowed. */
export function goToExternal(url: string): void {
  if (/^https?:\/\//i.test(url)) location.assign(url);
}
