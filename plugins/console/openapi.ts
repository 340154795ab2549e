/** The OpenAPI 3.1 document, generated from the routes, the styles and their validation schemas. */
import { isDeepStrictEqual } from 'node:util';
import type { Guard, Json, KnownError, Route, RouteAbout, Schema, Style, StyleAbout } from '../../core/plugin.ts';
import { text } from './schemas.ts';

/** Facts about the whole API. */
export interface Described {
  readonly title: string;
  readonly version: string;
  /** `https://gateway.example.com` */
  readonly url: string;
  readonly sessionCookie: string;
  readonly routes: readonly Route[];
  readonly styles: Iterable<Style>;
  readonly guards: ReadonlyMap<string, Guard>;
  readonly errors: ReadonlyMap<string, KnownError>;
}

type Members = Record<string, unknown>;

/** How a caller authenticates. */
const SCHEMES = {
  key: { name: 'apiKey', scheme: { type: 'http', scheme: 'bearer', description: 'An API key: `sk-…`.' } },
  accessToken: {
    name: 'accessToken',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'The personal access token of a user: GET /api/user/token.',
    },
  },
  serviceToken: {
    name: 'serviceToken',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'A service token, for machines: `turnpike_st_…`. The description of each operation names its scope.',
    },
  },
} as const;

/** Creates the document. */
export function openApi(described: Described): Json {
  const { title, version, url, sessionCookie, routes, styles, errors } = described;
  const paths: Record<string, Members> = {};
  const add = (path: string, method: string, operation: Members): void => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const style of styles) {
    if (style.ingress?.about !== undefined)
      add(style.ingress.path, 'post', operationOf(style, style.ingress.about, errors));
  }
  for (const route of routes) {
    if (route.about === undefined) continue;
    add(
      // `/api/token/:id` is `/api/token/{id}` in OpenAPI.
      route.path.replace(/:(\w+)\*?/g, '{$1}'),
      route.method === 'any' ? 'post' : route.method.toLowerCase(),
      routeOf(route, route.about, described),
    );
  }
  const schemas: Members = { Error: ERROR, Failure: FAILURE, ErrorCode: codesOf(errors) };
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description:
        'Calls to models are under /v1 and need an API key. Users, keys, payments and administration are under /api and need a sign-in, an access token or a service token.',
    },
    servers: [{ url }],
    paths: withReferences(inOrder(paths), schemas),
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
        [SCHEMES.key.name]: SCHEMES.key.scheme,
        [SCHEMES.accessToken.name]: SCHEMES.accessToken.scheme,
        [SCHEMES.serviceToken.name]: SCHEMES.serviceToken.scheme,
      },
      responses: { Error: answerOf('Error'), Failure: answerOf('Failure') },
      schemas: inOrder(schemas),
    },
  } as unknown as Json;
}

/** Titles that are schema names; a title of several words is descriptive text. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Copies a schema. Each schema whose `title` is a name is replaced by a reference and added to `schemas` under that name. A description next to the
 * title stays at the reference. If plugins give one name to different schemas, the reference is to the first one, and the others stay inline.
 */
function withReferences<T>(value: T, schemas: Members): T {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, schemas)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { title, description, ...schema } = value as Members;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, each]) => [name, withReferences(each, schemas)]));
  const about = description === undefined ? {} : { description: withReferences(description, schemas) };
  // If an object has a property called `title`, that is a schema and not a text.
  if (typeof title !== 'string' || !NAME.test(title)) {
    return { ...(title !== undefined && { title: withReferences(title, schemas) }), ...about, ...copy } as T;
  }
  schemas[title] ??= copy;
  if (!isDeepStrictEqual(schemas[title], copy)) return { title, ...about, ...copy } as T;
  return { $ref: `#/components/schemas/${title}`, ...about } as T;
}

const CODE = { $ref: '#/components/schemas/ErrorCode' };
/** The error object of model APIs. */
const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: text,
        type: text,
        param: text,
        code: {
          description: 'If a vendor refused the request, it can also be the code of the vendor.',
          anyOf: [CODE, text],
        },
      },
    },
  },
};
/** The error object of `/api`. */
const FAILURE = {
  type: 'object',
  required: ['success', 'message', 'code'],
  properties: { success: { const: false }, message: text, code: CODE, param: text },
};

/** Every code, with its status and what it means. */
function codesOf(errors: Described['errors']): Members {
  const shown = [...errors.values()].filter(({ place }) => place !== 'command');
  const oneOf = shown.map(({ code, statuses, help }) => ({
    const: code,
    description: `${statuses.join(', ')}: ${help}`,
  }));
  return { type: 'string', oneOf };
}

/** Codes that any request can get. */
const OF_ANY = ['internal_error', 'storage_unavailable', 'shutting_down'];
/** Codes of requests with a key that its limits count. */
const OF_ENTERED = ['rate_limit_exceeded', 'concurrency_limit_exceeded', 'overloaded'];
/** Codes of requests with a body or a query that is checked. */
const OF_CHECKED = [
  'invalid_request_error',
  'invalid_json',
  'request_too_large',
  'unsupported_media_type',
  'request_timeout',
];

/** A refusal of this shape. */
function answerOf(schema: string): Members {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { description: 'A refusal, identified by its code.', content };
}

/** The answers with these codes, by their statuses, and any other refusal. Errors that no plugin of the pipeline can return are omitted. */
function refusals(
  codes: Iterable<string>,
  schema: 'Error' | 'Failure',
  statusesOf: (code: string) => readonly number[],
): Members {
  const $ref = `#/components/responses/${schema}`;
  const byStatus: Record<string, string[]> = {};
  for (const code of new Set(codes))
    for (const status of statusesOf(code)) byStatus[status] = [...(byStatus[status] ?? []), `\`${code}\``];
  const answers = Object.entries(byStatus).map(([status, names]) => [status, { $ref, description: names.join(', ') }]);
  return { ...Object.fromEntries(answers), default: { $ref } };
}

/** A call to a model. */
function operationOf(style: Style, about: StyleAbout, errors: Described['errors']): Members {
  const content: Members = {};
  if (about.request !== undefined) content['application/json'] = { schema: about.request };
  if (about.form !== undefined) content['multipart/form-data'] = { schema: about.form };
  const answers: Members = { 'application/json': { schema: about.answer } };
  for (const type of about.mediaTypes) answers[type] = { schema: text };
  return {
    operationId: style.name,
    summary: about.summary,
    tags: ['Models'],
    security: [{ [SCHEMES.key.name]: [] }],
    requestBody: { required: true, content },
    responses: {
      200: { description: 'Success.', content: answers },
      ...refusals(
        [...errors.values()].flatMap(({ code, place }) => (place === 'call' ? [code] : [])),
        'Error',
        (code) => errors.get(code)!.statuses,
      ),
    },
  };
}

function routeOf(route: Route, about: RouteAbout, { guards, errors }: Described): Members {
  const parameters = [...pathParameters(route.path), ...searchParameters(route.search)];
  const content =
    typeof about.answer === 'string'
      ? { [about.answer]: { schema: text } }
      : { 'application/json': { schema: about.answer } };
  const access = route.access === 'public' ? [] : route.access;
  const codes = [
    ...access.flatMap((name) => guards.get(name)?.errors ?? []),
    ...(route.body !== undefined || route.search !== undefined ? OF_CHECKED : []),
    ...(access.includes('key') && route.uncounted !== true ? OF_ENTERED : []),
    ...(about.errors ?? []),
    ...OF_ANY,
  ];
  return {
    operationId: operationId(route),
    summary: about.summary,
    ...(about.notes !== undefined && { description: about.notes }),
    tags: [about.tag],
    security: about.credentials.map((name) => ({ [name === 'key' ? SCHEMES.key.name : name]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        required: Array.isArray(route.body.required) && route.body.required.length > 0,
        content: { 'application/json': { schema: route.body } },
      },
    }),
    responses: {
      [about.status ?? 200]: { description: about.status === undefined ? 'Success.' : about.summary, content },
      // The further statuses of a code are those of vendors, which routes do not repeat.
      ...refusals(
        codes,
        route.error === undefined ? 'Error' : 'Failure',
        (code) => errors.get(code)?.statuses.slice(0, 1) ?? [],
      ),
    },
  };
}

function pathParameters(path: string): Members[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }));
}

function searchParameters(search: Schema | undefined): Members[] {
  const { properties = {}, required = [] } = (search ?? {}) as {
    readonly properties?: Readonly<Record<string, Members>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...(required.includes(name) && { required: true }),
    schema,
  }));
}

/** Converts `GET /api/token/:id` to `get_api_token_id`. */
function operationId({ method, path }: Route): string {
  return `${method}${path}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_$/, path.endsWith('/') ? '_all' : '');
}

function inOrder(members: Members): Members {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
