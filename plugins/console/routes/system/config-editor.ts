/** Changes gateway.yaml, for root: edits, saves, versions, secrets, and tests of channels that are not saved yet. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a summary describes the spelling

import { Audit } from '../../../../core/contracts/audit.ts';
import { Catalog } from '../../../../core/contracts/catalog.ts';
import { type Candidate, Configuring, type Saved, type TextEdit } from '../../../../core/contracts/configuring.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { Remark } from '../../../../core/contracts/running.ts';
import { type Answer, answer, GatewayError, type JsonObject, refuse } from '../../../../core/plugin.ts';
import { errors } from '../../errors.ts';
import { spellError } from '../../format/envelope.ts';
import { pageAnswer, pageOf, pageSchema, pageSearch } from '../../format/paging.ts';
import { bodyOf, boolean, integer, list, nothing, object, record, text } from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { checkSchema, fullVersionSchema, LONGEST, textProperty, versionSchema } from '../../records/config-text.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Configuration');

const SAVE_ERRORS = ['configuration_wrong', 'configuration_conflict', 'editor_off', 'configuration_unwritable'];
/** The most characters of a note, and of a secret. */
const LONGEST_NOTE = 500;
const LONGEST_SECRET = 16 * 1_024;
/** JSON can need six bytes for a character of the text. */
const MAX_BODY = 6 * LONGEST;

const revisionProperty = { ...text, maxLength: 64, description: 'The revision that it was made from.' } as const;
const noteProperty = {
  ...text,
  maxLength: LONGEST_NOTE,
  default: '',
  description: 'Why; shown with the version.',
} as const;
const channelProperty = { ...text, maxLength: 256, description: 'The name of a channel of the text.' } as const;

const SECRET_NAME = /^[A-Za-z_][\w-]{0,63}$/;
const secretName = {
  name: { ...text, pattern: SECRET_NAME.source, description: 'The name of the secret.', examples: ['OPENAI_KEY'] },
};

const savedSchema = record('ConfigSaved', {
  revision: text,
  version: { ...integer, description: 'The id of the new version.' },
  generation: { ...integer, description: 'The number of the configuration that runs now.' },
});

const editedSchema = record('ConfigEdited', { text, ...checkSchema.properties });

export function configEditorRoutes({ host, need, audited }: Tools): readonly ApiRoute[] {
  const configuring = (): Configuring => need(Configuring);

  /** Refuses (403) every change if the editor is off. */
  async function changing(): Promise<Configuring> {
    const { reason } = await configuring().current();
    if (reason?.code === 'off') throw errors.editor_off();
    return configuring();
  }

  /**
   * Runs `work` with the services of a text that is not saved; refuses (400) one with errors. The audit log has it, because it sends the channel's
   * key to the address of the text.
   */
  async function inCandidate<T>(
    { actor, body }: Pick<ConsoleRequest<{ readonly text: string; readonly channel: string }>, 'actor' | 'body'>,
    work: (candidate: Candidate) => Promise<T>,
  ): Promise<T | Answer> {
    const done = await (await changing()).candidate(sized(body.text), async (candidate) => {
      await host.find(Audit)?.note({ actor, action: 'config.try', object: `channel ${body.channel}`, facts: {} });
      return work(candidate);
    });
    return 'result' in done ? done.result : refusal(done.problems);
  }

  return [
    route('root', 'POST', '/api/config/edit', {
      maxBody: MAX_BODY,
      errors: ['invalid_request_error', 'editor_off'],
      summary:
        'Applies edits to a text of gateway.yaml. Comments and order are kept. Nothing is saved; the result is checked.',
      body: bodyOf(['text', 'edits'], {
        text: textProperty,
        edits: {
          type: 'array',
          maxItems: 500,
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['path'],
            properties: {
              path: {
                type: 'array',
                minItems: 1,
                maxItems: 32,
                items: { type: ['string', 'integer'] },
                description:
                  'Names of members and positions in lists. The position behind the last item appends. Missing maps are created.',
              },
              value: { description: 'The new value.' },
              remove: { const: true, description: 'Removes the member or item.' },
              rename: { ...text, maxLength: 256, description: 'The new name of the member; its value and place stay.' },
            },
          },
        },
      }),
      answer: editedSchema,
      async handle({ body }) {
        try {
          const edited = await (await changing()).edit(sized(body.text), body.edits as unknown as readonly TextEdit[]);
          return shownAs(editedSchema, edited);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          throw coreErrors.invalid_request_error(`edits: ${error.message}.`).with({ param: 'edits' });
        }
      },
    }),
    route('root', 'PUT', '/api/config', {
      alsoAt: ['/api/config/'],
      verified: true,
      maxBody: MAX_BODY,
      errors: [...SAVE_ERRORS, 'invalid_request_error'],
      summary:
        'Saves and loads a text. If it has errors (400) or was changed since `revision` (409), nothing is saved; `last` of the conflict is the version that came first.',
      body: bodyOf(['text', 'revision'], { text: textProperty, revision: revisionProperty, note: noteProperty }),
      answer: savedSchema,
      async handle({ body, actor }) {
        const { revision, note } = body;
        const saved = await (await changing()).save({
          text: sized(body.text),
          revision,
          note,
          actor,
          steps: (version) => audited({ actor }, 'config.save', 'gateway.yaml', { version, note }),
        });
        return resultOf(saved);
      },
    }),
    route('root', 'GET', '/api/config/versions', {
      summary: 'Lists the last 200 versions of gateway.yaml, newest first.',
      search: pageSearch({}),
      answer: pageSchema(versionSchema),
      async handle({ query }) {
        const page = pageOf(query);
        const { total, items } = await configuring().versions({ offset: page.offset, limit: page.pageSize });
        return pageAnswer(
          page,
          total,
          items.map((version) => shownAs(versionSchema, version)),
        );
      },
    }),
    route('root', 'GET', '/api/config/versions/:id', {
      errors: ['version_not_found'],
      summary: 'Returns a version with its text, and what has changed since.',
      answer: fullVersionSchema,
      async handle({ params }) {
        const version = (await configuring().version(idOf(params.id))) ?? refuse(errors.version_not_found());
        return shownAs(fullVersionSchema, version);
      },
    }),
    route('root', 'POST', '/api/config/versions/:id/restore', {
      verified: true,
      errors: [...SAVE_ERRORS, 'version_not_found'],
      summary: 'Saves and loads the text of a version again, as a new version.',
      body: bodyOf(['revision'], { revision: revisionProperty, note: noteProperty }),
      answer: savedSchema,
      async handle({ params, body, actor }) {
        const { revision, note } = body;
        const id = idOf(params.id);
        const saved = await (await changing()).restore(id, {
          revision,
          note,
          actor,
          steps: (version) => audited({ actor }, 'config.restore', 'gateway.yaml', { version, from: id, note }),
        });
        return resultOf(saved ?? refuse(errors.version_not_found()));
      },
    }),
    route('root', 'PUT', '/api/config/secrets/:name', {
      params: secretName,
      verified: true,
      errors: ['invalid_request_error', 'editor_off'],
      summary:
        'Sets or replaces a secret, `${secret:NAME}` in gateway.yaml, and loads the configuration again if it uses it. The value cannot be read back.',
      body: bodyOf(['value'], { value: { ...text, minLength: 1, maxLength: LONGEST_SECRET } }),
      answer: object({
        problems: {
          ...checkSchema.properties.problems,
          description:
            'Why the configuration could not be loaded with it; the secret is set, and used after the next load.',
        },
      }),
      async handle(request) {
        const name = secretNameOf(request);
        const steps = audited(request, 'config.secret.set', `secret ${name}`);
        return { problems: await (await changing()).setSecret(name, request.body.value, request.actor, steps) };
      },
    }),
    route('root', 'DELETE', '/api/config/secrets/:name', {
      params: secretName,
      verified: true,
      errors: ['invalid_request_error', 'secret_not_found', 'secret_used', 'editor_off'],
      summary: 'Deletes a secret that gateway.yaml does not use.',
      answer: nothing,
      async handle(request) {
        const name = secretNameOf(request);
        const done = await (await changing()).deleteSecret(
          name,
          audited(request, 'config.secret.delete', `secret ${name}`),
        );
        if (done.outcome === 'unknown') throw errors.secret_not_found();
        if (done.outcome !== 'used') return null;
        return withMore(errors.secret_used(name, done.usedIn), { used_in: [...done.usedIn] });
      },
    }),
    route('root', 'POST', '/api/config/try', {
      verified: true,
      maxBody: MAX_BODY,
      errors: ['configuration_wrong', 'channel_not_found', 'model_not_found', 'editor_off'],
      summary: 'Tests a channel of a text that is not saved, with a small call that the gateway pays for.',
      body: bodyOf(['text', 'channel'], {
        text: textProperty,
        channel: channelProperty,
        model: { ...text, maxLength: 256, description: 'A public name of the text that the channel serves.' },
      }),
      answer: record('ConfigTry', {
        ok: boolean,
        ms: integer,
        model: { ...text, description: "Empty if only the vendor's model list was requested." },
        status: { ...integer, description: "The vendor's HTTP status; 0: no response." },
        message: { ...text, description: 'The result for people.' },
      }),
      handle: (request) =>
        inCandidate(request, async (assembly) => {
          const { channel, model } = request.body;
          const { ok, latencyMs, model: tested, status, message } = await catalogOf(assembly).probe(channel, model);
          return { ok, ms: latencyMs, model: tested ?? '', status: status ?? 0, message };
        }),
    }),
    route('root', 'POST', '/api/config/models', {
      verified: true,
      maxBody: MAX_BODY,
      errors: ['configuration_wrong', 'channel_not_found', 'models_not_listed', 'editor_off'],
      summary: 'Lists the models that the vendor offers at a channel of a text that is not saved.',
      body: bodyOf(['text', 'channel'], { text: textProperty, channel: channelProperty }),
      answer: object({
        models: list({
          id: { ...text, description: "The vendor's name." },
          taken: { ...boolean, description: 'A model of the text uses it at this channel.' },
        }),
      }),
      handle: (request) =>
        inCandidate(request, async (assembly) => {
          const { channel } = request.body;
          const catalog = catalogOf(assembly);
          const ids = await catalog.offered(channel).catch((error: unknown) => {
            if (error instanceof GatewayError) throw error;
            throw errors.models_not_listed(error instanceof Error ? error.message : String(error));
          });
          const taken = new Set(
            catalog
              .channels()
              .find(({ name }) => name === channel)
              ?.models.map(({ model }) => model),
          );
          return { models: ids.map((id) => ({ id, taken: taken.has(id) })) };
        }),
    }),
  ];
}

function catalogOf(candidate: Candidate): Catalog {
  return (
    candidate.find(Catalog) ??
    refuse(coreErrors.not_available('This configuration runs without catalog: its plugin is not in the pipeline.'))
  );
}

/** Refuses (400) a text that is too long in bytes. */
function sized(given: string): string {
  if (Buffer.byteLength(given) <= LONGEST) return given;
  throw coreErrors.invalid_request_error('text must have at most 256 KiB.').with({ param: 'text' });
}

function secretNameOf({ params: { name = '' } }: Pick<ConsoleRequest, 'params'>): string {
  if (SECRET_NAME.test(name)) return name;
  throw coreErrors
    .invalid_request_error(
      'The name of a secret begins with a letter, has only letters, digits, "_" and "-", and at most 64 characters.',
    )
    .with({ param: 'name' });
}

/** An error with more members, for the page that explains it. */
function withMore(error: GatewayError, more: JsonObject): Answer {
  const body = { ...(spellError('envelope', error) as JsonObject), ...more };
  return answer(error.status, JSON.stringify(body), { 'content-type': 'application/json' });
}

/** An error with every problem, so that an editor can mark each at its position. */
export function refusal(problems: readonly Remark[]): Answer {
  const [first] = problems;
  return withMore(errors.configuration_wrong(first?.line, first?.message), {
    problems: problems.map((problem) => ({ ...problem })),
  });
}

function resultOf(saved: Saved): unknown {
  switch (saved.outcome) {
    case 'saved':
      return { revision: saved.revision, version: saved.version, generation: saved.generation };
    case 'wrong':
      return refusal(saved.problems);
    case 'refused':
      throw saved.reason.code === 'off' ? errors.editor_off() : errors.configuration_unwritable(saved.reason.message);
    case 'conflict': {
      const { by, revision } = saved;
      const last = by === undefined ? null : shownAs(versionSchema, by);
      return withMore(errors.configuration_conflict(by?.by), { revision, last });
    }
  }
}
