/** Imports for the console: the uploaded file, one import at a time, and what is known about the last one, for every process on the store. */
import { randomBytes } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Actor } from '../../core/contracts/audit.ts';
import type { Importing, ImportRequest, ImportRun } from '../../core/contracts/importing.ts';
import type { Host, JsonObject, Surrender } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import type { ImportStep } from './importing.ts';
import { visible } from './names.ts';
import type { Report } from './report.ts';

/** The largest uploaded file. */
const LARGEST = 512 * 1_024 * 1_024;
/** The prefix of uploaded files in the folder for temporary files. */
const UPLOADED = 'turnpike-import-';
const UPLOAD_ID = /^[0-9a-f]{32}$/;
/** An uploaded file is removed after that, if nothing is imported from it. */
const KEPT_MS = 24 * 3_600_000;
/** How often a running import says that it lives, and after what silence it is given up. */
const SIGN_MS = 5_000;
const SILENT_MS = 30_000;
/** The most characters of the whole report, and the names of equal notes. */
const MOST_LINES = 1_000_000;
const MOST_NAMES = 20;

interface RunRow {
  readonly state: ImportRun['state'];
  readonly at_ms: number;
  readonly about: string;
  readonly has_handouts: number;
}

/** What the row says about the import. */
type About = Omit<ImportRun, 'state' | 'hasHandouts'>;

/** The place of the sealed secrets. */
const PLACE = 'import_run.handouts';

/** Addresses of databases by a host. Parameters of a URL, and an encoded host, could name files and sockets of this machine. */
const DATABASE =
  /^(?:(?:postgres(?:ql)?|mysql|mariadb):\/\/(?:[^/?#@\s]*@)?[\w.[\]:-]+\/[\w%.-]+(?:\?sslmode=[a-z-]+)?|[^/@\s]*@tcp\([\w.:[\]-]+\)\/[\w-]+)$/;

/** Creates the service. */
export function createImporting(host: Host): Importing & {
  start(): void;
  surrender(): Promise<readonly Surrender[]>;
} {
  const { store, clock, vault, log } = host;

  async function run(request: ImportRequest, actor: Actor, claim: string, first: About): Promise<void> {
    let about = first;
    const write = (state: ImportRun['state'], more: { readonly lines?: string; readonly handouts?: string } = {}) =>
      store.run(
        'UPDATE import_run SET state = ?, at_ms = ?, about = ?, report = ?, handouts = ? WHERE id = 1 AND claim = ?',
        state,
        clock.now(),
        JSON.stringify(about),
        more.lines ?? null,
        more.handouts ? vault.seal(PLACE, more.handouts) : null,
        claim,
      );
    const tell = (): void =>
      void write('running').catch((error: unknown) => log.warn('the state of an import was not written', { error }));
    const stopSigns = clock.every(SIGN_MS, tell);
    let handouts = '';
    try {
      const [{ runImport }, { openSource }, { reportFile, reportJson }] = await Promise.all([
        import('./importing.ts'),
        import('./run.ts'),
        import('./report.ts'),
      ]);
      const address = request.url ?? fileOf(request.upload!);
      const { report } = await runImport(host, {
        source: await openSource(host, request.program, address, { saltKey: request.saltKey }),
        about: about.source,
        actor,
        isDry: request.isDry,
        apply: true,
        prove: request.isDry,
        update: request.update,
        handOut({ account, email = '', what, secret }) {
          handouts += `${[account, email, what, secret].join('\t')}\n`;
        },
        progress(step: ImportStep) {
          about = { ...about, step };
          tell();
        },
      });
      stopSigns();
      about = { ...about, report: shortened(reportJson(report, false) as JsonObject) };
      if (!request.isDry && request.upload !== undefined) await rm(address, { force: true });
      await write('done', { lines: linesOf(report, reportFile), handouts });
    } catch (error) {
      stopSigns();
      const reason = error instanceof Error ? error.message : String(error);
      about = { ...about, reason: reason.split('\n').map(visible).join('\n') };
      // What was created before the failure can be handed out all the same.
      await write('failed', { handouts });
    }
  }

  return {
    start() {
      void removeOld(clock.now()).catch((error: unknown) => log.warn('old uploads were not removed', { error }));
    },
    surrender: async () => {
      const row = await store.one<RunRow>('SELECT 1 FROM import_run WHERE handouts IS NOT NULL');
      if (row === undefined) return [];
      const what = 'links and keys of the last import; run it again, or set new passwords';
      return [{ what, steps: [{ sql: 'UPDATE import_run SET handouts = NULL' }] }];
    },

    async upload(given, offset, part) {
      if (offset + part.length > LARGEST) throw errors.upload_too_large('512 MB');
      const id = given ?? randomBytes(16).toString('hex');
      const file = fileOf(id);
      try {
        const handle = await open(file, given === undefined ? 'wx' : 'r+', 0o600);
        try {
          if ((await handle.stat()).size !== offset) throw errors.upload_out_of_order();
          await handle.write(part, 0, part.length, offset);
        } finally {
          await handle.close();
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw errors.upload_out_of_order();
        throw error;
      }
      return { id, size: offset + part.length };
    },

    async begin(request, actor) {
      const { url, upload, program, isDry } = request;
      if (url !== undefined && !DATABASE.test(url))
        throw errors.import_source_refused(
          'the URL must begin with postgres:// or mysql:// and name a host and a database',
        );
      if (url === undefined) {
        const isThere = upload !== undefined && (await stat(fileOf(upload)).catch(() => undefined));
        if (!isThere) throw errors.import_source_refused('there is no uploaded file');
      }
      const about: About = {
        step: 'reading',
        startedMs: clock.now(),
        program,
        source: url === undefined ? 'uploaded file' : url.replace(/^([a-z]+:\/\/)?.*@/, '$1').replace(/\?.*$/, ''),
        isDry,
        reason: undefined,
        report: undefined,
      };
      const claim = randomBytes(16).toString('hex');
      const lost = await store.atomic([
        {
          sql: `INSERT INTO import_run (id, claim, state, at_ms, about) VALUES (1, ?, 'running', ?, ?)
            ON CONFLICT (id) DO UPDATE SET claim = excluded.claim, state = excluded.state, at_ms = excluded.at_ms,
              about = excluded.about, report = NULL, handouts = NULL
            WHERE import_run.state <> 'running' OR import_run.at_ms < ?`,
          params: [claim, clock.now(), JSON.stringify(about), clock.now() - SILENT_MS],
          must: 'free',
        },
      ]);
      if (lost !== undefined) throw errors.import_running();
      run(request, actor, claim, about).catch((error: unknown) =>
        log.error('the result of an import was not written', { error }),
      );
    },

    async latest() {
      const row = await store.one<RunRow>(
        'SELECT state, at_ms, about, CASE WHEN handouts IS NULL THEN 0 ELSE 1 END AS has_handouts FROM import_run WHERE id = 1',
      );
      if (row === undefined) return undefined;
      const about = JSON.parse(row.about) as About;
      const hasHandouts = row.has_handouts === 1;
      const isSilent = row.state === 'running' && row.at_ms < clock.now() - SILENT_MS;
      if (!isSilent) return { ...about, state: row.state, hasHandouts };
      return { ...about, state: 'failed', reason: 'the gateway was stopped while it ran; import again', hasHandouts };
    },

    async lines() {
      const row = await store.one<{ readonly report: string | null }>('SELECT report FROM import_run WHERE id = 1');
      return row?.report ?? undefined;
    },

    async handouts() {
      const row = await store.one<{ readonly handouts: string | null }>('SELECT handouts FROM import_run WHERE id = 1');
      return row?.handouts == null ? undefined : vault.open(PLACE, row.handouts);
    },
  };
}

/** The path of an uploaded file; its id cannot name another folder. */
function fileOf(id: string): string {
  if (!UPLOAD_ID.test(id)) throw errors.upload_out_of_order();
  return join(tmpdir(), `${UPLOADED}${id}`);
}

async function removeOld(nowMs: number): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(UPLOADED) || !UPLOAD_ID.test(name.slice(UPLOADED.length))) continue;
    const file = join(tmpdir(), name);
    const about = await stat(file).catch(() => undefined);
    if (about !== undefined && about.mtimeMs < nowMs - KEPT_MS) await rm(file, { force: true });
  }
}

/** Every line, up to a limit. */
function linesOf(report: Report, reportFile: (report: Report) => Iterable<string>): string {
  let text = '';
  for (const piece of reportFile(report)) {
    text += piece;
    if (text.length > MOST_LINES)
      return `${text.slice(0, MOST_LINES)}\n… \`turnpike import\` writes all lines into a file.\n`;
  }
  return text;
}

/** Without single things, and with few names of equal notes. */
function shortened({ things: _, ...report }: JsonObject): JsonObject {
  const few = (groups: unknown): JsonObject[] =>
    (groups as readonly (JsonObject & { readonly what: readonly string[] })[]).map((group) => ({
      ...group,
      what: group.what.slice(0, MOST_NAMES),
    }));
  return { ...report, decide: few(report.decide), changed: few(report.changed), left: few(report.left) };
}
