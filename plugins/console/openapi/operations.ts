/** Operations of the OpenAPI document: calls of styles, and routes. */

import type { KnownError, Route, RouteAbout, Schema, Style, StyleAbout } from '../../../core/plugin.ts';
import type { Described } from './described.ts';
import { exampleOf } from './examples.ts';
import { answerHeadersOf, CALL_HEADERS, headerParameters } from './headers.ts';
import { plain } from './plain.ts';
import { withReferences } from './references.ts';
import { isMembers, type Members } from './schema-walk.ts';

const text = { type: 'string' };
const JSON_TYPE = 'application/json';

/** Codes that any request can get. */
const OF_ANY = ['internal_error', 'storage_unavailable', 'shutting_down'];
/** Codes of requests with a key that its limits count. */
const OF_ENTERED = ['rate_limit_exceeded', 'concurrency_limit_exceeded', 'overloaded'];
/** Codes of requests with a body. */
const OF_BODIES = [
  'invalid_request_error',
  'invalid_json',
  'request_too_large',
  'unsupported_media_type',
  'request_timeout',
];

/** Adds the named schemas inside a schema to the document, and refers to them. */
type Refer = (schema: Schema | Members) => Members;

/** Makes operations; named schemas are added to `schemas`. */
export function createOperations({ guards, errors }: Described, keyScheme: string, schemas: Members) {
  const refer: Refer = (schema) => withReferences(plain(schema as Members), schemas);

  return {
    /** A call to a model. */
    call(style: Style, about: StyleAbout): Members {
      const content: Members = {};
      if (about.request !== undefined) content[JSON_TYPE] = described(about.request, refer);
      if (about.form !== undefined) content['multipart/form-data'] = { schema: refer(about.form) };
      const answers: Members = { [JSON_TYPE]: described(about.answer, refer) };
      for (const type of about.mediaTypes) answers[type] = { schema: fileSchema(type) };
      return {
        operationId: about.name ?? style.name,
        summary: about.summary,
        description: `${about.notes === undefined ? '' : `${about.notes} `}Send an API key.`,
        tags: ['Models'],
        security: [{ [keyScheme]: [] }],
        parameters: headerParameters([...(about.headers ?? []), ...CALL_HEADERS]),
        requestBody: { required: true, content },
        responses: {
          200: { description: 'Success.', headers: answerHeadersOf('call'), content: answers },
          ...refusals(
            [...errors.values()].flatMap(({ code, place }) => (place === 'call' ? [code] : [])),
            'CallError',
            (code) => errors.get(code)!.statuses,
          ),
        },
      };
    },

    /** A route. */
    route(route: Route, about: RouteAbout): Members {
      const search = route.search ?? about.query;
      const parameters = [
        ...pathParameters(route, about, refer),
        ...searchParameters(search, refer),
        ...headerParameters(about.headers ?? []),
      ];
      const access = route.access === 'public' ? [] : route.access;
      const body = about.request ?? route.body;
      const codes = [
        ...access.flatMap((name) => guards.get(name)?.errors ?? []),
        ...(body !== undefined ? OF_BODIES : hasParameters(search) ? ['invalid_request_error'] : []),
        ...(access.includes('key') && route.uncounted !== true ? OF_ENTERED : []),
        ...(about.errors ?? []),
        ...OF_ANY,
      ];
      return {
        operationId: about.name ?? nameOf(route),
        summary: about.summary,
        description: about.notes ?? accessNote(about),
        tags: [about.tag],
        security: about.credentials.map((name) => ({ [name === 'key' ? keyScheme : name]: [] })),
        ...(parameters.length > 0 && { parameters }),
        ...(body !== undefined && { requestBody: bodyOf(body, about, refer) }),
        responses: {
          ...success(about, refer),
          // The further statuses of a code are those of vendors, which routes do not repeat.
          ...refusals(
            codes,
            about.failures === 'envelope' ? 'Failure' : 'Error',
            (code) => errors.get(code)?.statuses.slice(0, 1) ?? [],
          ),
          ...otherRefusals(about),
        },
      };
    },
  };
}

/** A media type with an example. */
function described(schema: Schema | Members, refer: Refer, example = exampleOf(schema as Members)): Members {
  return { schema: refer(schema), example };
}

function bodyOf(body: Schema, { example, requestType = JSON_TYPE }: RouteAbout, refer: Refer): Members {
  const required = (body as Members).required;
  return {
    required: Array.isArray(required) && required.length > 0,
    content: { [requestType]: described(body, refer, example ?? exampleOf(body as Members)) },
  };
}

function success(about: RouteAbout, refer: Refer): Members {
  const { answer, status = 200, mediaTypes = [], sends } = about;
  const content: Members =
    typeof answer === 'string' ? { [answer]: { schema: text } } : { [JSON_TYPE]: described(answer, refer) };
  for (const type of mediaTypes) content[type] = { schema: fileSchema(type) };
  const isFile = mediaTypes.length > 0 || typeof answer === 'string';
  const description = about.status === undefined ? 'Success.' : about.summary;
  return { [status]: { description, headers: answerHeadersOf(isFile ? 'file' : 'any', sends), content } };
}

/** Audio is bytes; everything else is text. */
function fileSchema(type: string): Members {
  return type.startsWith('audio/') ? { type: 'string', format: 'binary' } : text;
}

/** Who may call an operation that has no other note. */
function accessNote({ credentials }: RouteAbout): string {
  if (credentials.length === 0) return 'No sign-in is needed.';
  if (credentials.includes('key')) return 'Send an API key.';
  return credentials.includes('serviceToken')
    ? 'For signed-in users.'
    : 'For signed-in users; service tokens are refused.';
}

/** The answers with these codes, by their statuses, and any other refusal. Errors that no plugin of the pipeline can return are omitted. */
function refusals(
  codes: Iterable<string>,
  response: 'Error' | 'CallError' | 'Failure',
  statusesOf: (code: string) => KnownError['statuses'],
): Members {
  const $ref = `#/components/responses/${response}`;
  const byStatus: Record<string, string[]> = {};
  for (const code of new Set(codes))
    for (const status of statusesOf(code)) byStatus[status] = [...(byStatus[status] ?? []), `\`${code}\``];
  const answers = Object.entries(byStatus).map(([status, names]) => [status, { $ref, description: names.join(', ') }]);
  return { ...Object.fromEntries(answers), default: { $ref } };
}

function otherRefusals({ otherRefusals = {} }: RouteAbout): Members {
  return Object.fromEntries(
    Object.entries(otherRefusals).map(([status, type]) => [
      status,
      { description: 'Refused.', headers: answerHeadersOf('file'), content: { [type]: { schema: text } } },
    ]),
  );
}

function pathParameters({ path }: Route, { params = {} }: RouteAbout, refer: Refer): Members[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const { description = `The ${name} in the path.`, ...schema } = (params[name] ?? text) as Members;
    return { name, in: 'path', required: true, description, schema: refer(schema), example: exampleOf(schema, name) };
  });
}

function searchParameters(search: Schema | undefined, refer: Refer): Members[] {
  const { properties = {}, required = [] } = (search ?? {}) as {
    readonly properties?: Readonly<Record<string, Members>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, deprecated, ...schema }]) => ({
    name,
    in: 'query',
    description: description ?? sentenceOf(name),
    ...(required.includes(name) && { required: true }),
    ...(deprecated === true && { deprecated }),
    schema: refer(schema),
    ...(isOpen(schema) && { example: exampleOf(schema, name) }),
  }));
}

/** Whether a query can be wrong. */
function hasParameters(search: Schema | undefined): boolean {
  return Object.keys((search as Members | undefined)?.properties ?? {}).length > 0;
}

/** Whether the schema itself does not say which values are usual. */
function isOpen(schema: Members): boolean {
  return schema.enum === undefined && schema.default === undefined && schema.type !== 'boolean' && isMembers(schema);
}

/** `user_id` as a sentence. */
function sentenceOf(name: string): string {
  return `The ${name.replaceAll('_', ' ')}.`;
}

/** Names `GET /api/token/:id` as `get_api_token_id`. */
function nameOf({ method, path }: Route): string {
  return `${method}${path}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_$/, path.endsWith('/') ? '_all' : '');
}
