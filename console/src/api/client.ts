/** Asks `/api`: typed by its description, refusals as errors, and a second factor asked for where one is wanted. */
import type { Operations } from './operations.ts';

/** `GET /api/user/self`. */
export type Operation = keyof Operations;
type Of<O extends Operation, Part extends string> = Operations[O] extends { readonly [K in Part]: infer T } ? T : never;
/** What an operation answers. */
export type Data<O extends Operation> = Of<O, 'data'>;
/** What its body may hold. */
export type Body<O extends Operation> = Of<O, 'body'>;
/** What its query may say. */
export type Search<O extends Operation> = Of<O, 'search'>;

/** What is sent along; a part is there where the operation takes it. */
export type Asked<O extends Operation> = (Operations[O] extends { readonly params: infer P }
  ? { readonly params: Readonly<Record<keyof P, string | number>> }
  : { readonly params?: never }) &
  (Operations[O] extends { readonly search: infer S }
    ? { readonly search?: Partial<S> | undefined }
    : { readonly search?: never }) &
  (Operations[O] extends { readonly body: infer B } ? { readonly body: B } : { readonly body?: never });
/** As arguments: left out where nothing has to be sent. */
export type AskedArguments<O extends Operation> = Record<string, never> extends Asked<O> ? [Asked<O>?] : [Asked<O>];

/** A refusal of `/api`, or no answer at all: `code` is then `offline`, or `cancelled`. */
export class Refusal extends Error {
  readonly status: number;
  /** `wrong_password`. */
  readonly code: string;
  /** The field that it is about; empty where it is about none. */
  readonly param: string;
  /** In so many seconds it may go better; undefined where nothing is said of that. */
  readonly retryAfter: number | undefined;
  constructor(status: number, code: string, message: string, param = '', retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.retryAfter = retryAfter;
  }
}

/** Where the console lives, with a slash at its end: `https://example.com/prefix/console/`. */
export const HOME = new URL('./', document.baseURI);
/** The address that clients use, without a slash at its end: `https://example.com/prefix`. */
export const GATEWAY = new URL('..', HOME).href.replace(/\/$/, '');

/** Asks for a second factor; true once it was shown. */
type Verifier = () => Promise<boolean>;
let verifier: Verifier = () => Promise.resolve(false);
/** Says who asks for a second factor. */
export function verifyWith(ask: Verifier): void {
  verifier = ask;
}

/** Asks, and resolves with what is in the envelope. Rejects with a `Refusal`. */
export async function call<O extends Operation>(operation: O, ...[asked]: AskedArguments<O>): Promise<Data<O>> {
  const body = (await whole(operation, (asked ?? {}) as Loose)) as { success?: boolean; data?: unknown };
  return (body?.success === true && 'data' in body ? body.data : body) as Data<O>;
}

/** The same for what begins a payment: `url` is where a browser posts `data`. */
export async function callToPay<O extends Operation>(
  operation: O,
  ...[asked]: AskedArguments<O>
): Promise<{ readonly data: Data<O>; readonly url?: string }> {
  return (await whole(operation, (asked ?? {}) as Loose)) as { data: Data<O>; url?: string };
}

let ambient: AbortSignal | undefined;
/** Runs `work`; the signal aborts the request that it begins before it first waits. */
export function abortable<T>(signal: AbortSignal | undefined, work: () => T): T {
  ambient = signal;
  try {
    return work();
  } finally {
    ambient = undefined;
  }
}

interface Loose {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

async function whole(operation: Operation, asked: Loose): Promise<unknown> {
  const signal = ambient;
  try {
    return await once(operation, asked, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'verification_required' || !(await verifier())) throw error;
    return once(operation, asked, signal);
  }
}

/** The address of an operation, for links to files. */
function addressOf<O extends Operation>(operation: O, asked: Pick<Loose, 'params' | 'search'> = {}): string {
  const path = operation.slice(operation.indexOf(' ') + 1);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(asked.params?.[name] ?? '')),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.search ?? {})) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return `${GATEWAY}${filled}${query.size > 0 ? `?${query}` : ''}`;
}

async function once(operation: Operation, asked: Loose, signal: AbortSignal | undefined): Promise<unknown> {
  const method = operation.slice(0, operation.indexOf(' '));
  try {
    const response = await fetch(addressOf(operation, asked), {
      method,
      headers: {
        accept: 'application/json',
        'x-requested-with': 'turnpike-console',
        ...(asked.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(asked.body !== undefined && { body: JSON.stringify(asked.body) }),
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

/** The JSON of an answer. Rejects with a `Refusal` where it is one, however it is spelled. */
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
  const said = body as {
    success?: boolean;
    message?: string;
    data?: unknown;
    code?: string;
    param?: string;
    error?: { message?: string; code?: string; param?: string | null };
  } | null;
  if (response.ok && said?.success !== false) return body;
  // Refusals of payments have their sentence in `data`.
  const message = said?.error?.message ?? (typeof said?.data === 'string' ? said.data : said?.message);
  throw new Refusal(
    response.status,
    said?.error?.code ?? said?.code ?? 'failed',
    message ?? `The gateway answered ${response.status}.`,
    said?.error?.param ?? said?.param ?? '',
    Number(response.headers.get('retry-after') ?? 0) || undefined,
  );
}

/** Fetches a file of an operation and hands it to the browser to keep. Rejects with a `Refusal`. */
export async function saveFile<O extends Operation>(
  operation: O,
  name: string,
  asked: Pick<Loose, 'params' | 'search'> = {},
): Promise<void> {
  const fetched = async (): Promise<Blob> => {
    const response = await fetch(addressOf(operation, asked), { headers: { 'x-requested-with': 'turnpike-console' } });
    if (!response.ok) await readAnswer(response);
    return response.blob();
  };
  const blob = await fetched().catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'verification_required' || !(await verifier())) throw error;
    return fetched();
  });
  keepFile(name, blob);
}

/** Hands bytes to the browser to keep as a file. */
export function keepFile(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
