/** What an error of the server, or of the way there, means for the lists of a batch. */

/** An error whose `code` is an SQLSTATE, or what the operating system says of a connection. */
export interface CodedError extends Error {
  readonly code?: string;
}

/** What kind of error it is: `lost` and `away` are not about the statement that met it. */
export type ErrorKind =
  /** The connection is gone: nobody knows what became of what was sent last. */
  | 'lost'
  /** The server answers, and cannot write now: no room, shutting down, a standby. */
  | 'away'
  /** The transaction met another one, or a table changed under a prepared statement: the same again will do. */
  | 'again'
  /** The statement is wrong, or breaks a rule of its table. */
  | 'statement';

/** Tells the kinds apart. */
export function kindOf(error: unknown): ErrorKind {
  const code = codeOf(error);
  // An SQLSTATE. What the operating system says begins with E, and `EPIPE` is as long.
  if (!/^[0-9FHPX][0-9A-Z]{4}$/.test(code)) return 'lost';
  // Class 08: connection, but for a number of parameters that is wrong. 57P0x: the server ends the session; 25P03 and 57P05: it was idle too long for the server.
  if (/^(08(?!P01)|57P0|25P03)/.test(code)) return 'lost';
  // 40: serialization and deadlock; 0A000 and 26000: a prepared statement that no longer fits.
  if (/^40/.test(code) || code === '26000' || (code === '0A000' && /cached plan/.test(String(error)))) return 'again';
  // 53: resources; 58, XX, F0: the system beneath; 25006: read-only; 55P03: a lock was not had in time.
  if (/^(53|58|XX|F0)/.test(code) || code === '25006' || code === '55P03') return 'away';
  return 'statement';
}

/** The code of an error; empty where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What was wrong and in which statement, without any of its values: the server quotes them in errors about data. */
export function statementError(error: unknown, sql: string): Error {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const safe = code.startsWith('22') ? message.replace(/"[\s\S]*"/, '"…"') : message;
  return Object.assign(new Error(`${safe}, in: ${sql}`), { code });
}

/** A sentence about an error that is not about a statement. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message || code : String(error);
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
