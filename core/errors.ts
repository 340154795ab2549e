/** The errors that the gateway tells its clients: one class, what kind each status is, and how they are spelled. */
import { sharedByCopies } from './copies.ts';

/** Something the client is told, on purpose. */
export class GatewayError extends Error {
  readonly status: number;
  /** `lower_snake`, except for the `QUOTA_…` codes that the interface demands. */
  readonly code: string;
  /** The field that is wrong; empty where none is. */
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
  /** What kind of error it is, by its status. */
  get type(): string {
    return typeOf(this.status);
  }
}
sharedByCopies(GatewayError, 'GatewayError');

/** What an error may have beside its message. */
export interface ErrorDetails {
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Stops what is going on and tells the client why. */
export function refuse(status: number, code: string, message: string, more?: ErrorDetails): never {
  throw new GatewayError(status, code, message, more);
}

/** The error object's `type` for a status. */
export function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  if (status >= 400 && status < 500 && status !== 402) return 'invalid_request_error';
  return 'gateway_api_error';
}

/** The error object that every refusal carries; all four members are strings. */
export function errorObject(error: GatewayError): {
  error: { message: string; type: string; param: string; code: string };
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code } };
}
