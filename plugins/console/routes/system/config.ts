/** gateway.yaml, for root: shows the running configuration and the file, validates a draft, and reloads. */

import { Audit } from '../../../../core/contracts/audit.ts';
import { Configuring } from '../../../../core/contracts/configuring.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { Running, type Verdict } from '../../../../core/contracts/running.ts';
import { bodyOf, boolean, integer, listOf, object, text, unixSeconds } from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { secondsOf } from '../../format/units.ts';
import { checkSchema, LONGEST, textProperty, verdictProperties } from '../../records/config-text.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { refusal } from './config-editor.ts';

const route = tagged('Configuration');
/** The members of the current text for the editor. */
const editorProperties = {
  source: { enum: ['file', 'store'], description: 'store: the text is in the database (`config: store`).' },
  path: {
    type: ['string', 'null'],
    description: 'The name of the file without its folder; null if the text is in the database.',
  },
  writable: boolean,
  reason: {
    type: ['object', 'null'],
    required: ['code', 'message'],
    properties: { code: { enum: ['off', 'unwritable'] }, message: text },
    description: 'Why it cannot be changed here; null: it can. off: `configuration.editor` is false.',
  },
  text: { ...text, description: 'The current text, which may not be loaded yet. Secrets are masked.' },
  revision: { ...text, description: 'Identifies the text; for saving.' },
  secrets: listOf('ConfigSecret', {
    name: text,
    set_at: unixSeconds,
    set_by: text,
    used_in: { type: 'array', items: text, description: 'Places in the text: `channels[0].key`.' },
  }),
  environment: {
    type: 'array',
    items: text,
    description: 'The variables that the text refers to. A changed text may refer to no others.',
  },
  vendors: {
    ...listOf('ConfigVendor', {
      name: text,
      keyless: { ...boolean, description: 'A channel needs no key.' },
      needs_url: { ...boolean, description: 'A channel must have a `url`.' },
      styles: { type: 'array', items: text },
      options: { type: ['object', 'null'], description: 'JSON Schema of its own fields of a channel; null: none.' },
    }),
    description: 'The vendors of the running plugins.',
  },
} as const;

export function configRoutes({ host, need }: Tools): readonly ApiRoute[] {
  async function shownEditor() {
    const { source, path, reason, text, revision, secrets, environment } = await need(Configuring).current();
    return {
      source,
      path: path ?? null,
      writable: reason === undefined,
      reason: reason ?? null,
      text,
      revision,
      secrets: secrets.map(({ name, setMs, setBy, usedIn }) => ({
        name,
        set_at: secondsOf(setMs),
        set_by: setBy,
        used_in: usedIn,
      })),
      environment,
      vendors: [...host.vendors().values()].map(({ name, keyless, url, speaks, options }) => ({
        name,
        keyless: keyless === true,
        needs_url: url === undefined,
        styles: Object.keys(speaks),
        options: options ?? null,
      })),
    };
  }

  return [
    route('root', 'GET', '/api/config', {
      alsoAt: ['/api/config/'],
      summary:
        'Returns gateway.yaml as it runs and as it is on disk, and whether the file is valid. Secrets are masked; a mark shows whether they changed.',
      answer: {
        title: 'Configuration',
        type: 'object',
        required: [
          'file',
          'generation',
          'running',
          'disk',
          'problems',
          'warnings',
          'report',
          ...Object.keys(editorProperties),
        ],
        properties: {
          file: { ...text, description: 'Its name without the folder.' },
          generation: { ...integer, description: 'Number of the running configuration since the start, from 1.' },
          running: object({ text, loaded_at: unixSeconds }),
          disk: object({
            text,
            changed: { ...boolean, description: 'The file differs from the running configuration.' },
            modified_at: { type: ['integer', 'null'], description: 'Unix seconds; null if the file cannot be read.' },
          }),
          ...verdictProperties,
          ...editorProperties,
        },
      },
      async handle() {
        const { name, generation, running, disk, verdict } = await need(Running).configuration();
        return {
          file: name,
          generation,
          running: { text: running.text, loaded_at: secondsOf(running.loadedMs) },
          disk: {
            text: disk.text,
            changed: disk.changed,
            modified_at: disk.modifiedMs === undefined ? null : secondsOf(disk.modifiedMs),
          },
          ...shown(verdict),
          ...(await shownEditor()),
        };
      },
    }),
    route('root', 'GET', '/api/config/schema', {
      summary: 'Returns the JSON Schema of gateway.yaml with the running plugins, for editors.',
      answer: { type: 'object' },
      handle: () => need(Running).schema(),
    }),
    route('root', 'POST', '/api/config/check', {
      maxBody: 4 * LONGEST,
      summary:
        'Validates a text as gateway.yaml, and compares it with the current one. Nothing is saved. It may refer only to the variables and files that the current text refers to; masked values stand for its own.',
      body: bodyOf(['text'], { text: textProperty }),
      answer: checkSchema,
      async handle({ body }) {
        if (Buffer.byteLength(body.text) > LONGEST)
          throw coreErrors.invalid_request_error('text must have at most 256 KiB.').with({ param: 'text' });
        return shownAs(checkSchema, await need(Configuring).check(body.text));
      },
    }),
    route('root', 'POST', '/api/config/reload', {
      verified: true,
      errors: ['configuration_wrong'],
      summary: 'Reloads gateway.yaml. If it is invalid, nothing changes: 400 `configuration_wrong` with the errors.',
      answer: object({ generation: integer, loaded_at: unixSeconds }),
      async handle({ actor }) {
        const running = need(Running);
        const problems = await running.reload();
        if (problems.length > 0) return refusal(problems);
        const { generation, loadedMs } = (await running.vitals()).configuration;
        await host.find(Audit)?.note({ actor, action: 'config.reload', object: 'gateway.yaml', facts: { generation } });
        return { generation, loaded_at: secondsOf(loadedMs) };
      },
    }),
  ];
}

function shown({ problems, warnings, report }: Verdict) {
  return { problems, warnings, report };
}
