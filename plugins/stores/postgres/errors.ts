/** Classifies errors of the server and the connection for the lists of a batch. */

/** An error whose `code` is an SQLSTATE or a system error code. */
export interface CodedError extends Error {
  readonly code?: string;
}

/** The kind of an error: `lost` and `away` are not caused by the statement. */
export type ErrorKind =
  /** The connection is lost: the outcome of the last statements is unknown. */
  | 'lost'
  /** The server responds, and cannot write now: disk full, shutting down, a standby. */
  | 'away'
  /** A conflict with another transaction, or a table changed under a prepared statement: a retry will succeed. */
  | 'again'
  /** The statement is wrong, or violates a constraint. */
  | 'statement';

export function kindOf(error: unknown): ErrorKind {
  const code = codeOf(error);
  // An SQLSTATE. System error codes begin with E, and `EPIPE` has the same length.
  if (!/^[0-9FHPX][0-9A-Z]{4}$/.test(code)) return 'lost';
  // Class 08: connection errors, except a wrong number of parameters. 57P0x: the server ends the session; 25P03 and 57P05: idle timeout.
  if (/^(08(?!P01)|57P0|25P03)/.test(code)) return 'lost';
  // 40: serialization and deadlock; 0A000 and 26000: an outdated prepared statement.
  if (/^40/.test(code) || code === '26000' || (code === '0A000' && /cached plan/.test(String(error)))) return 'again';
  // 53: resources; 58, XX, F0: system errors; 25006: read-only; 55P03: lock timeout.
  if (/^(53|58|XX|F0)/.test(code) || code === '25006' || code === '55P03') return 'away';
  return 'statement';
}

/** The code of an error; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The error and its statement, without values: the server quotes values in errors about data. */
export function statementError(error: unknown, sql: string): Error {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const safe = code.startsWith('22') ? message.replace(/"[\s\S]*"/, '"…"') : message;
  return Object.assign(new Error(`${safe}, in: ${sql}`), { code });
}

/** A sentence about an error that no statement caused. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message || code : String(error);
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
