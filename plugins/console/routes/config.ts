/** gateway.yaml, for root: what runs, what lies on the disk, whether that would be taken; and taking it. It is never written here. */
import { Audit } from '../../../core/contracts/audit.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Remark, Running, type Verdict } from '../../../core/contracts/running.ts';
import { answer, type JsonObject, schema } from '../../../core/plugin.ts';
import { spellError } from '../envelope.ts';
import { errors } from '../errors.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, integer, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'Configuration';
/** Characters, and bytes, of the longest gateway.yaml. */
const LONGEST = 256 * 1_024;

const remarks = {
  type: 'array',
  items: {
    title: 'ConfigRemark',
    type: 'object',
    required: ['line', 'column', 'path', 'message'],
    properties: {
      line: { ...integer, description: 'From 1.' },
      column: { ...integer, description: 'From 1.' },
      path: { ...text, description: '`channels[0].vendor`; empty for the file itself.' },
      message: text,
    },
  },
} as const;

const verdict = {
  problems: { ...remarks, description: 'What keeps it from being taken; none: it would be.' },
  warnings: { ...remarks, description: 'What works and is unwise.' },
  report: {
    type: 'array',
    items: text,
    description: 'What `turnpike check` prints, line by line; empty where there are problems.',
  },
} as const;

/** The rows. */
export function configRoutes({ host, need }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/config',
      alsoAt: ['/api/config/'],
      who: 'root',
      summary:
        'gateway.yaml as it runs, as it lies on the disk, and whether that would be taken. Secrets are masked, each with a mark that changes with it.',
      tag: TAG,
      answer: {
        title: 'Configuration',
        type: 'object',
        required: ['file', 'generation', 'running', 'disk', 'problems', 'warnings', 'report'],
        properties: {
          file: { ...text, description: 'Its name, without the folder.' },
          generation: { ...integer, description: 'Which configuration since the start runs; from 1.' },
          running: {
            type: 'object',
            required: ['text', 'loaded_at'],
            properties: { text, loaded_at: unixSeconds },
          },
          disk: {
            type: 'object',
            required: ['text', 'changed', 'modified_at'],
            properties: {
              text,
              changed: { ...boolean, description: 'It says something else than what runs.' },
              modified_at: { type: ['integer', 'null'], description: 'Unix seconds; null where it cannot be read.' },
            },
          },
          ...verdict,
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
        };
      },
    }),
    route({
      method: 'GET',
      path: '/api/config/schema',
      who: 'root',
      summary: 'The JSON Schema of gateway.yaml with the plugins that run, for editors.',
      tag: TAG,
      answer: { type: 'object' },
      handle: () => need(Running).schema(),
    }),
    route({
      method: 'POST',
      path: '/api/config/check',
      who: 'root',
      maxBody: 4 * LONGEST,
      summary:
        'Judges a text as if it stood in gateway.yaml. Nothing is written. It may refer only to what the file on the disk refers to; what is masked there stands for itself.',
      tag: TAG,
      body: schema<{ readonly text: string }>({
        type: 'object',
        additionalProperties: false,
        required: ['text'],
        properties: { text: { ...text, maxLength: LONGEST, description: 'At most 256 KiB.' } },
      }),
      answer: { title: 'ConfigCheck', type: 'object', required: Object.keys(verdict), properties: verdict },
      async handle({ body }) {
        if (Buffer.byteLength(body.text) > LONGEST)
          throw coreErrors.invalid_request_error('text must have at most 256 KiB.').with({ param: 'text' });
        return shown(await need(Running).check(body.text));
      },
    }),
    route({
      method: 'POST',
      path: '/api/config/reload',
      who: 'root',
      verified: true,
      errors: ['configuration_wrong'],
      summary:
        'Takes gateway.yaml over as it lies on the disk. Where it has problems nothing changes: 400 `configuration_wrong`, with them.',
      tag: TAG,
      answer: {
        type: 'object',
        required: ['generation', 'loaded_at'],
        properties: { generation: integer, loaded_at: unixSeconds },
      },
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

/** A refusal that names all of them: an editor shows each in its place. */
function refusal(problems: readonly Remark[]) {
  const [first] = problems;
  const error = errors.configuration_wrong(first?.line, first?.message);
  const body = { ...(spellError('envelope', error) as JsonObject), problems };
  return answer(error.status, JSON.stringify(body), { 'content-type': 'application/json' });
}
