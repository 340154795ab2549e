/** gateway.yaml, for root: shows the running configuration and the file, validates a draft, and reloads. It never writes the file. */
import { Audit } from '../../../core/contracts/audit.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Remark, Running, type Verdict } from '../../../core/contracts/running.ts';
import { answer, type JsonObject } from '../../../core/plugin.ts';
import { spellError } from '../envelope.ts';
import { errors } from '../errors.ts';
import { type ApiRoute, type Tools, tagged } from '../route.ts';
import { bodyOf, boolean, integer, listOf, object, record, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const route = tagged('Configuration');
/** The maximum size of gateway.yaml, in characters and in bytes. */
const LONGEST = 256 * 1_024;

const remarks = listOf('ConfigRemark', {
  line: { ...integer, description: 'From 1.' },
  column: { ...integer, description: 'From 1.' },
  path: { ...text, description: '`channels[0].vendor`; empty for the whole file.' },
  message: text,
});

const verdict = {
  problems: { ...remarks, description: 'Errors; if there are none, the file can be loaded.' },
  warnings: { ...remarks, description: 'Warnings: it can be loaded, but is not advisable.' },
  report: {
    type: 'array',
    items: text,
    description: 'The output of `turnpike check` by line; empty if there are errors.',
  },
} as const;

export function configRoutes({ host, need }: Tools): readonly ApiRoute[] {
  return [
    route('root', 'GET', '/api/config', {
      alsoAt: ['/api/config/'],
      summary:
        'Returns gateway.yaml as it runs and as it is on disk, and whether the file is valid. Secrets are masked; a mark shows whether they changed.',
      answer: {
        title: 'Configuration',
        type: 'object',
        required: ['file', 'generation', 'running', 'disk', 'problems', 'warnings', 'report'],
        properties: {
          file: { ...text, description: 'Its name without the folder.' },
          generation: { ...integer, description: 'Number of the running configuration since the start, from 1.' },
          running: object({ text, loaded_at: unixSeconds }),
          disk: object({
            text,
            changed: { ...boolean, description: 'The file differs from the running configuration.' },
            modified_at: { type: ['integer', 'null'], description: 'Unix seconds; null if the file cannot be read.' },
          }),
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
    route('root', 'GET', '/api/config/schema', {
      summary: 'Returns the JSON Schema of gateway.yaml with the running plugins, for editors.',
      answer: { type: 'object' },
      handle: () => need(Running).schema(),
    }),
    route('root', 'POST', '/api/config/check', {
      maxBody: 4 * LONGEST,
      summary:
        'Validates a text as gateway.yaml. Nothing is written. It may refer only to the variables and files that the file on disk refers to; masked values stand for the ones on disk.',
      body: bodyOf(['text'], {
        text: { ...text, maxLength: LONGEST, description: 'At most 256 KiB.' },
      }),
      answer: record('ConfigCheck', verdict),
      async handle({ body }) {
        if (Buffer.byteLength(body.text) > LONGEST)
          throw coreErrors.invalid_request_error('text must have at most 256 KiB.').with({ param: 'text' });
        return shown(await need(Running).check(body.text));
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

/** An error with every problem, so that an editor can mark each at its position. */
function refusal(problems: readonly Remark[]) {
  const [first] = problems;
  const error = errors.configuration_wrong(first?.line, first?.message);
  const body = { ...(spellError('envelope', error) as JsonObject), problems };
  return answer(error.status, JSON.stringify(body), { 'content-type': 'application/json' });
}
