/** Imports from another gateway, for root: the file, the dry run, the import, its report, and what is to be handed out. */

import { IMPORTED_PROGRAMS, Importing, type ImportRun } from '../../../core/contracts/importing.ts';
import { answer, refuse } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import {
  bodyOf,
  boolean,
  integer,
  list,
  listOf,
  number,
  object,
  objectOrNull,
  record,
  text,
} from '../format/schemas.ts';
import { secondsOf } from '../format/units.ts';
import { type ApiRoute, tagged } from '../route.ts';
import type { Tools } from '../tools.ts';

const route = tagged('Configuration');

/** The most bytes of one part of a file, and of its base64. */
const PART = 3 * 1_024 * 1_024;
const PART_TEXT = PART * (4 / 3);

const amounts = object({
  balances: { ...number, description: 'Sum of positive balances, in quota units.' },
  debts: number,
  key_limits: { ...number, description: 'Sum of what keys may still spend.' },
});
const groups = listOf('ImportNotes', {
  where: { ...text, description: 'The table or option it is about, or `gateway.yaml`.' },
  why: text,
  what: { type: 'array', items: text, description: 'The first 20 things.' },
  count: { ...integer, description: 'All of them, in rows or values.' },
});
const charged = { there: { ...number, description: 'Quota units.' }, here: number } as const;

const reportSchema = objectOrNull('The report; null: the import has not ended.', {
  summary: { ...text, description: 'One line.' },
  version: { type: ['string', 'null'], description: 'What is known of the version of the program; null: nothing.' },
  proof: objectOrNull('Recorded calls that were computed again with the imported prices; null: none were.', {
    calls: integer,
    equal: { ...integer, description: 'Those that cost the same here.' },
    ...charged,
    models: list({ model: text, group: { type: ['string', 'null'] }, calls: integer, equal: integer, ...charged }),
    causes: {
      ...list({ cause: text, calls: integer }),
      description: 'Why the others differ, the most frequent first.',
    },
    differences: { ...list({ id: text, model: text, ...charged, cause: text }), description: 'The first.' },
  }),
  counts: {
    ...list({ kind: text, there: integer, new: integer, changed: integer, unchanged: integer, left: integer }),
    description: 'By kind of thing.',
  },
  sums: object({ there: amounts, here: objectOrNull('Null: they were not computed.', amounts.properties) }),
  decide: { ...groups, description: 'What needs a decision before the switch.' },
  changed: { ...groups, description: 'What is here, but not as it was.' },
  left: { ...groups, description: 'What was not taken over.' },
  configuration: object({
    applied: boolean,
    version: { type: ['integer', 'null'], description: 'The version of the configuration that was saved; null: none.' },
    changes: list({
      kind: text,
      name: text,
      state: {
        enum: ['new', 'changed', 'unchanged', 'differs'],
        description: 'differs: another value is here, and stays.',
      },
      text,
    }),
  }),
  price_differences: { ...list({ model: text, text }), description: 'Imported prices that differ from list prices.' },
});

const runSchema = record('ImportRun', {
  state: { enum: ['none', 'running', 'done', 'failed'], description: 'none: there was no import in the console.' },
  step: { enum: ['reading', 'checking', 'writing', 'configuring'] },
  started_at: { type: ['integer', 'null'], description: 'Unix seconds.' },
  program: text,
  source: { ...text, description: 'Without a password.' },
  dry_run: boolean,
  reason: { type: ['string', 'null'], description: 'Why it failed.' },
  handouts: { ...boolean, description: 'There are links or keys to hand out.' },
  report: reportSchema,
});

export function importRoutes({ need, note, audited, host }: Tools): readonly ApiRoute[] {
  const file = (name: string, body: string) =>
    answer(200, body, {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    });
  return [
    route('root', 'GET', '/api/import', {
      summary:
        'Returns the state and the report of the last import from another gateway that was begun in the console.',
      answer: runSchema,
      handle: async () => shownRun(await need(Importing).latest()),
    }),
    route('root', 'POST', '/api/import', {
      verified: true,
      sessionOnly: true,
      errors: ['import_running', 'import_source_refused'],
      summary:
        'Begins an import from another gateway: of its database, or of an uploaded SQLite file. Without `dry_run`, users, keys and balances are created, and channels, models and prices are merged into the configuration.',
      body: bodyOf(['program'], {
        program: { enum: IMPORTED_PROGRAMS },
        url: {
          ...text,
          maxLength: 2_048,
          description: 'Of its database: postgres:// or mysql://, with user and password. It is not stored.',
          examples: ['postgres://user:password@db.example.com/newapi'],
        },
        upload: { ...text, maxLength: 32, description: 'The id of the uploaded file.' },
        salt_key: { ...text, maxLength: 1_024, description: '`LITELLM_SALT_KEY`. It is not stored.' },
        dry_run: { ...boolean, default: true, description: 'Only find out what would be done.' },
        update: { ...boolean, default: false, description: 'Takes over what has changed there since the last import.' },
      }),
      answer: object({ started_at: { ...integer, description: 'Unix seconds.' } }),
      async handle({ actor, body }) {
        const importing = need(Importing);
        await host.store.atomic(
          audited({ actor }, 'import.begin', `import ${body.program}`, { dry_run: body.dry_run, update: body.update }),
        );
        await importing.begin(
          {
            program: body.program,
            url: body.url,
            upload: body.upload,
            saltKey: body.salt_key || undefined,
            isDry: body.dry_run,
            update: body.update,
          },
          actor,
        );
        return { started_at: secondsOf(host.clock.now()) };
      },
    }),
    route('root', 'POST', '/api/import/upload', {
      verified: true,
      sessionOnly: true,
      maxBody: PART_TEXT + 1_024,
      errors: ['upload_out_of_order', 'upload_too_large'],
      summary:
        'Appends a part to an uploaded SQLite file; without `id`, begins a new one. It is deleted after its import, or after a day.',
      body: bodyOf(['data'], {
        id: { ...text, maxLength: 32 },
        offset: { ...integer, minimum: 0, default: 0, description: 'The bytes that were uploaded before.' },
        data: { ...text, maxLength: PART_TEXT, description: 'At most 3 MiB, in base64.' },
      }),
      answer: object({ id: text, size: integer }),
      handle: ({ body }) => need(Importing).upload(body.id, body.offset, Buffer.from(body.data, 'base64')),
    }),
    route('root', 'GET', '/api/import/report', {
      errors: ['report_not_found'],
      summary: 'Returns every line of the last report.',
      answer: 'text/plain',
      handle: async () =>
        file('import.report.txt', (await need(Importing).lines()) ?? refuse(errors.report_not_found())),
    }),
    route('root', 'GET', '/api/import/handouts', {
      verified: true,
      sessionOnly: true,
      errors: ['report_not_found'],
      summary:
        'Returns what users have to be sent after the last import: account, email address, what it is, and the link or key, separated by tabs. The next import deletes it.',
      answer: 'text/plain',
      async handle(request) {
        const lines = (await need(Importing).handouts()) ?? refuse(errors.report_not_found());
        await note(request, 'import.handouts');
        return file('import.handouts.tsv', lines);
      },
    }),
  ];
}

function shownRun(run: ImportRun | undefined) {
  // The run itself says the first of these; the others are files of the machine, and lines of the handouts.
  const { program: _p, source: _s, at: _a, dry_run: _d, files: _f, handouts: _h, ...report } = run?.report ?? {};
  return {
    state: run?.state ?? 'none',
    step: run?.step ?? 'reading',
    started_at: run === undefined ? null : secondsOf(run.startedMs),
    program: run?.program ?? '',
    source: run?.source ?? '',
    dry_run: run?.isDry ?? true,
    reason: run?.reason ?? null,
    handouts: run?.hasHandouts ?? false,
    report: run?.report === undefined ? null : report,
  };
}
