/** The OpenAPI 3.1 document, generated from the routes, the styles and their validation schemas. */

import type { Json } from '../../../core/plugin.ts';
import type { Described } from './described.ts';
import { answerHeadersOf, headerComponents } from './headers.ts';
import { TAGS } from './names.ts';
import { createOperations } from './operations.ts';
import { inOrder } from './references.ts';
import type { Members } from './schema-walk.ts';

const text = { type: 'string' };

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
  const schemas: Members = { Error: ERROR, Failure: FAILURE, ErrorCode: codesOf(errors) };
  const operations = createOperations(described, SCHEMES.key.name, schemas);
  const paths: Record<string, Record<string, Members>> = {};
  const add = (path: string, method: string, operation: Members): void => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const style of styles) {
    const { path = '', about } = style.ingress ?? {};
    if (about === undefined) continue;
    add(parametersOf(path), 'post', operations.call(style, about));
    for (const [below, each] of Object.entries(about.operations ?? {}))
      add(parametersOf(path + below), 'post', operations.call(style, each));
  }
  for (const route of routes) {
    if (route.about === undefined) continue;
    const method = route.method === 'any' ? 'post' : route.method.toLowerCase();
    add(parametersOf(route.path), method, operations.route(route, route.about));
  }
  return {
    openapi: '3.1.0',
    info: infoOf(title, version, url),
    servers: [{ url }],
    tags: tagsOf(paths),
    paths: inOrder(paths),
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description:
            'The session of a browser. Requests that change something also need the header `X-Requested-With` with any value, unless a browser names their origin.',
        },
        [SCHEMES.key.name]: SCHEMES.key.scheme,
        [SCHEMES.accessToken.name]: SCHEMES.accessToken.scheme,
        [SCHEMES.serviceToken.name]: SCHEMES.serviceToken.scheme,
      },
      headers: headerComponents,
      responses: {
        Error: refusalOf('Error', 'refusal'),
        CallError: refusalOf('Error', 'refusedCall'),
        Failure: refusalOf('Failure', 'refusal'),
      },
      schemas: inOrder(schemas),
    },
  } as unknown as Json;
}

function infoOf(title: string, version: string, url: string): Members {
  return {
    title,
    version,
    description:
      'Calls to models are under /v1 and need an API key. Users, keys, payments and administration are under /api and need a sign-in, an access token or a service token. A path that ends with `/` is also served without it. Enumerations of error codes are not complete: newer releases may add some.',
    contact: { name: `The operator of ${title}`, url },
    license: { name: 'MIT', identifier: 'MIT' },
  };
}

/** `/api/token/:id` is `/api/token/{id}` in OpenAPI. */
function parametersOf(path: string): string {
  return path.replace(/:(\w+)\*?/g, '{$1}');
}

/** The tags of the operations, in order. */
function tagsOf(paths: Readonly<Record<string, Readonly<Record<string, Members>>>>): readonly Members[] {
  const used = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)));
  return [...(used as Set<string>)].sort().map((name) => ({ name, description: TAGS[name] ?? `${name}.` }));
}

/** A known code, or one of a newer release or of a vendor. */
const CODE = { anyOf: [{ $ref: '#/components/schemas/ErrorCode' }, text] };
/** The error object of model APIs. */
const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { ...text, description: 'What is wrong, and what would be right.' },
        type: { ...text, description: 'The kind of error: `invalid_request_error`.' },
        param: { ...text, description: 'The field that is wrong; empty: none.' },
        code: {
          description: 'If a vendor refused the request, it can also be the code of the vendor.',
          ...CODE,
        },
      },
    },
  },
};
/** The error object of `/api`. */
const FAILURE = {
  type: 'object',
  required: ['success', 'message', 'code'],
  properties: {
    success: { type: 'boolean', const: false },
    message: { ...text, description: 'What is wrong, and what would be right.' },
    code: { description: 'Newer releases may add codes.', ...CODE },
    param: { ...text, description: 'The field that is wrong.' },
  },
};

/** Examples of refusals. */
const REFUSED = {
  Error: {
    error: {
      message: 'The key is invalid.',
      type: 'authentication_error',
      param: '',
      code: 'invalid_api_key',
    },
  },
  Failure: { success: false, message: 'There is no key 7.', code: 'key_not_found' },
} as const;

/** Every code, with its statuses and what it means. */
function codesOf(errors: Described['errors']): Members {
  const shown = [...errors.values()].filter(({ place }) => place !== 'command');
  return {
    type: 'string',
    description: 'A code that this release knows.',
    enum: shown.map(({ code }) => code),
    'x-enum-descriptions': shown.map(({ statuses, help }) => `${statuses.join(', ')}: ${help}`),
  };
}

/** A refusal of this shape. */
function refusalOf(schema: 'Error' | 'Failure', headers: 'refusal' | 'refusedCall'): Members {
  const content = {
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example: REFUSED[schema] },
  };
  return { description: 'A refusal, identified by its code.', headers: answerHeadersOf(headers), content };
}
