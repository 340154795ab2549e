/** Imports from another gateway, for the console. Provided by the plugin `import`. */

import type { Actor } from './audit.ts';
import { service } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';

/** The programs that can be imported; `auto`: the one whose database it is. */
export const IMPORTED_PROGRAMS = ['auto', 'new-api', 'one-api', 'one-hub', 'litellm'] as const;

/** What to import, and how. */
export interface ImportRequest {
  readonly program: (typeof IMPORTED_PROGRAMS)[number];
  /** A database, with its password. Files of this machine cannot be named. Undefined: the uploaded file. */
  readonly url: string | undefined;
  /** The id of the uploaded SQLite file. */
  readonly upload: string | undefined;
  /** `LITELLM_SALT_KEY`. */
  readonly saltKey: string | undefined;
  /** Only find out what would be done. */
  readonly isDry: boolean;
  /** Takes over what has changed there since the last import. */
  readonly update: boolean;
}

/** The current or last import. */
export interface ImportRun {
  readonly state: 'running' | 'done' | 'failed';
  readonly step: 'reading' | 'checking' | 'writing' | 'configuring';
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly program: string;
  /** Where it reads from, without a password; `uploaded file`. */
  readonly source: string;
  readonly isDry: boolean;
  /** Why it failed. */
  readonly reason: string | undefined;
  /** The report as `turnpike import --json` prints it, without single things and with at most 20 names of equal notes. */
  readonly report: JsonObject | undefined;
  /** There are links or keys to hand out. */
  readonly hasHandouts: boolean;
}

/** Runs imports, one at a time on all gateways of the store. */
export interface Importing {
  /** Appends a part of a SQLite file; without an id, begins a new one. Refuses (409) a part that does not continue the file, (413) a file that is too large. */
  upload(id: string | undefined, offset: number, part: Buffer): Promise<{ readonly id: string; readonly size: number }>;
  /** Begins an import, which goes on after the promise resolves. Refuses (409) while another one runs, (400) a source that is none. */
  begin(request: ImportRequest, actor: Actor): Promise<void>;
  latest(): Promise<ImportRun | undefined>;
  /** Every line of the last report. Undefined: there is none. */
  lines(): Promise<string | undefined>;
  /** What is to be handed out: account, email address, what it is, link or key, separated by tabs. It is deleted with the next import. */
  handouts(): Promise<string | undefined>;
}
/** The service `Importing`. */
export const Importing = service<Importing>('importing');
