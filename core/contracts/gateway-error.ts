/** The errors that the gateway sends to clients: their class, tables of codes, the type for each status, and their format. */
import { sharedByCopies } from '../runtime/shared-classes.ts';

/** An error that is meant for the client. */
export class GatewayError extends Error {
  readonly status: number;
  /** `lower_snake`, except for the `QUOTA_…` codes that the interface requires. */
  readonly code: string;
  /** The invalid field; empty if there is none. */
  readonly param: string;
  /** Headers of the answer: `retry-after`, `allow`. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, code: string, message: string, more: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = more.param ?? '';
    this.headers = more.headers ?? {};
  }
  /** The error type, by its status. */
  get type(): string {
    return typeOf(this.status);
  }
  /** A copy that differs in what is given. Headers are added to those that it has. */
  with({ status = this.status, message = this.message, param = this.param, headers }: ErrorChanges): GatewayError {
    return new GatewayError(status, this.code, message, { param, headers: { ...this.headers, ...headers } });
  }
}
sharedByCopies(GatewayError, 'GatewayError');

/** Optional fields of an error. */
export interface ErrorDetails {
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The members that a copy of an error can override. */
export interface ErrorChanges extends ErrorDetails {
  readonly status?: number;
  readonly message?: string;
}

/** Refuses the request: throws an error of a table, or one with a code that is in none. */
export function refuse(error: GatewayError): never;
export function refuse(status: number, code: string, message: string, more?: ErrorDetails): never;
export function refuse(error: GatewayError | number, code = '', message = '', more?: ErrorDetails): never {
  throw typeof error === 'number' ? new GatewayError(error, code, message, more) : error;
}

/** Where an error can occur: calls; other requests outside `/api`; requests for `/api`; only commands, which show no code. */
export type ErrorPlace = 'call' | 'request' | 'api' | 'command';

/** An error of a table. */
export interface ErrorRow {
  /** If there are several, errors have the first one, and another one through `with`. */
  readonly status: number | readonly number[];
  /** Meaning and remedy, in sentences that are true in every case: for the documentation and the console. */
  readonly help: string;
  /** The message, with the parameters of the maker. Absent: the maker may be given one; `help` is the usual one. */
  readonly text?: string | ((...values: never[]) => string);
  /** The field that is wrong, if it is always the same one. */
  readonly param?: string;
  /** Headers of every answer with this error. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The documentation of an error. */
export interface ErrorAbout {
  readonly code: string;
  readonly statuses: readonly number[];
  readonly help: string;
  readonly place: ErrorPlace;
}

/** Makes an error of a table: `throw errors.key_not_found(7)`. */
export interface ErrorMaker<V extends readonly unknown[] = never[]> {
  (...values: V): GatewayError;
  readonly about: ErrorAbout;
}

/** Errors by their codes, as `definePlugin({ errors })` takes them. */
export type ErrorTable = Readonly<Record<string, ErrorMaker>>;

/** A function for each row, with the parameters of its text; without one, with an optional message. */
export type Errors<R> = {
  readonly [C in keyof R]: ErrorMaker<
    R[C] extends { readonly text: infer T } ? (T extends (...values: infer V) => string ? V : []) : [message?: string]
  >;
};

/** Makes a table of errors: for each code a function that makes the error, so that the compiler knows codes and parameters. */
export function defineErrors<const R extends Readonly<Record<string, ErrorRow>>>(
  rows: R,
  place: ErrorPlace = 'call',
): Errors<R> {
  return Object.fromEntries(
    Object.entries(rows).map(([code, row]) => [code, makerOf(code, row, place)]),
  ) as unknown as Errors<R>;
}

function makerOf(code: string, row: ErrorRow, place: ErrorPlace): ErrorMaker {
  const statuses = typeof row.status === 'number' ? [row.status] : row.status;
  const { help, text = (message = help) => message } = row;
  const make = (...values: never[]): GatewayError =>
    new GatewayError(statuses[0]!, code, typeof text === 'string' ? text : text(...values), row);
  return Object.assign(make, { about: { code, statuses, help, place } });
}

/** The error object's `type` for a status. */
export function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  if (status >= 400 && status < 500 && status !== 402) return 'invalid_request_error';
  return 'gateway_api_error';
}

/** The error object of every refusal; all four members are strings. */
export function errorObject(error: GatewayError): {
  error: { message: string; type: string; param: string; code: string };
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code } };
}
