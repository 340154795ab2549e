/** Validates what a plugin registers: an unknown member or wrong type stops the start, with plugin and member named. */

import type { Command, CommandOption } from '../contracts/command.ts';
import type { Schema, Service } from '../contracts/definitions.ts';
import type { PassthroughRoute } from '../contracts/exchange.ts';
import type {
  FormReader,
  Ingress,
  Relay,
  Style,
  StyleAbout,
  StyleClient,
  StyleErrors,
  StyleVendor,
} from '../contracts/formats/style.ts';
import type {
  Dialect,
  FrameFormat,
  ModelListing,
  ModelQuirks,
  TokenCount,
  Vendor,
} from '../contracts/formats/vendor.ts';
import type { ErrorAbout, ErrorMaker } from '../contracts/gateway-error.ts';
import type { HeaderAbout, Route, RouteAbout } from '../contracts/route.ts';
import type { Invariant, Migration } from '../contracts/store.ts';
import {
  anything,
  type Check,
  count,
  describe,
  each,
  either,
  flag,
  listOf,
  type Members,
  method,
  name,
  objectOf,
  oneOf,
  optional,
  record,
  recordOf,
  text,
} from '../helpers/shape-checks.ts';
import type { Parts, Plugin, Sections } from '../plugin.ts';
import { quirksSchema } from '../translation/quirks/quirks.ts';

const pathText: Check = (value, at) =>
  text(value, at) ??
  ((value as string).startsWith('/') ? undefined : `\`${at}\` must begin with "/", and is ${describe(value)}`);

// ---- the interfaces, member by member

const service = objectOf<Service<unknown>>({ id: name, type: optional(() => undefined) });
const schema = record;

const migration = objectOf<Migration>({
  id: count,
  title: name,
  sql: listOf(text),
  compatibleFrom: optional(count),
});

/** They run in this order, and one that is left out would come too late later. */
const inOrder: Check = (value, at) => {
  const wrong = (value as readonly Migration[]).findIndex(({ id }, i) => id !== i + 1);
  return wrong === -1 ? undefined : `\`${at}[${wrong}].id\` must be ${wrong + 1}: migrations are numbered from 1`;
};
const migrations: Check = (value, at) => listOf(migration)(value, at) ?? inOrder(value, at);

/** What a schema of a section says at least; members without one of these would be accepted whatever they are. */
const TOLD = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];
const section: Check = (value, at) =>
  schema(value, at) ??
  (TOLD.some((keyword) => Object.hasOwn(value as object, keyword))
    ? undefined
    : `\`${at}\` must be a JSON Schema: \`type\` is missing`);

const errorAbout = objectOf<ErrorAbout>({
  code: name,
  statuses: listOf(count),
  help: text,
  place: oneOf('call', 'request', 'api', 'command'),
});
/** A function that `defineErrors` has made. */
const errorMaker: Check = (value, at) => method(value, at) ?? errorAbout((value as ErrorMaker).about, `${at}.about`);

const plugin = objectOf<Plugin<Sections>>({
  name,
  api: (value) =>
    value === 2 ? undefined : `\`api\` must be 2, the interface version of this gateway, and is ${describe(value)}`,
  sections: optional(recordOf(section)),
  migrations: optional(migrations),
  ...each(optional(listOf(service)), 'needs', 'wants', 'provides'),
  errors: optional(recordOf(errorMaker)),
  create: method,
});

/** The members of a schema that are read here. */
interface Described {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
}
/** Only names and words: compiling the schema would take longer than everything else here. */
const bySchema =
  ({ properties, enum: words }: Schema & Described): Check =>
  (value, at) => {
    if (words !== undefined) return oneOf(...words)(value, at);
    if (properties === undefined) return undefined;
    const members = Object.entries(properties).map(([key, inner]) => [key, optional(bySchema(inner))]);
    return objectOf(Object.fromEntries(members) as Members<object>)(value, at);
  };
const quirks = bySchema(quirksSchema as Schema & Described);

const tokenCount = objectOf<TokenCount>({ path: method, body: optional(method), read: method });

const dialect = objectOf<Dialect>({
  path: either(pathText, method),
  headers: method,
  request: optional(method),
  answer: optional(method),
  models: optional(listOf(text)),
  count: optional(tokenCount),
  frames: optional(
    either(oneOf('sse', 'ndjson'), objectOf<FrameFormat>({ mediaType: text, lengthOf: method, read: method })),
  ),
});

const vendor = objectOf<Vendor>({
  name,
  options: optional(schema),
  url: optional(method),
  keyless: optional(flag),
  speaks: recordOf(dialect),
  quirks: optional(listOf(objectOf<ModelQuirks>({ models: listOf(text), styles: optional(listOf(text)), quirks }))),
  defaultStyles: optional(listOf(text)),
  models: optional(objectOf<ModelListing>({ path: method, read: method })),
  ...each(optional(method), 'judge', 'sign', 'credentials'),
});

const header = objectOf<HeaderAbout>({
  name,
  description: text,
  required: optional(flag),
  schema: optional(schema),
  example: anything,
});

const operationAbout = {
  summary: text,
  request: optional(schema),
  form: optional(schema),
  answer: schema,
  mediaTypes: listOf(text),
  name: optional(name),
  notes: optional(text),
  headers: optional(listOf(header)),
};

const ingress = objectOf<Ingress>({
  path: name,
  operations: optional(listOf(text)),
  read: method,
  headers: optional(recordOf(text)),
  form: optional(objectOf<FormReader>({ only: flag, read: method })),
  measure: optional(method),
  maxValues: optional(count),
  recall: optional(method),
  runs: optional(method),
  texts: optional(listOf(text)),
  idHeader: optional(text),
  headerAliases: optional(recordOf(text)),
  keepAlive: optional(text),
  about: optional(
    objectOf<StyleAbout>({
      ...operationAbout,
      operations: optional(recordOf(objectOf<Omit<StyleAbout, 'operations'>>(operationAbout))),
    }),
  ),
});

const relay = objectOf<Relay>({
  answer: method,
  ...each(optional(method), 'patch', 'mustTranslate', 'outgoing', 'text', 'finish', 'streamed', 'bytesType', 'stream'),
  maxEventBytes: optional(count),
  reader: optional(objectOf<NonNullable<Relay['reader']>>({ decodeReply: method, createStreamDecoder: method })),
});

const style = objectOf<Style>({
  name,
  ingress: optional(ingress),
  relay,
  errors: optional(
    objectOf<StyleErrors>({
      body: optional(method),
      event: optional(method),
      overloadedStatus: optional(count),
      cutsWithVendor: optional(flag),
    }),
  ),
  client: optional(
    objectOf<StyleClient>({
      names: recordOf(text),
      namesIn: optional(method),
      decodeRequest: method,
      encodeReply: method,
      encodeReplies: optional(method),
      createStreamEncoder: method,
    }),
  ),
  vendor: optional(
    objectOf<StyleVendor>({
      quirks,
      encodeRequest: method,
      decodeReply: method,
      decodeReplies: optional(method),
      createStreamDecoder: method,
    }),
  ),
});

const route = objectOf<Route>({
  method: oneOf('GET', 'POST', 'PUT', 'DELETE', 'any'),
  path: name,
  takes: optional(oneOf('none', 'bytes', 'scanned')),
  maxBody: optional(count),
  access: either(oneOf('public'), listOf(text)),
  uncounted: optional(flag),
  changes: optional(flag),
  cors: optional(flag),
  body: optional(schema),
  search: optional(schema),
  about: optional(
    objectOf<RouteAbout>({
      summary: text,
      tag: text,
      answer: either(text, schema),
      status: optional(count),
      credentials: listOf(oneOf('session', 'accessToken', 'serviceToken', 'key')),
      errors: optional(listOf(text)),
      notes: optional(text),
      name: optional(name),
      params: optional(recordOf(schema)),
      query: optional(schema),
      request: optional(schema),
      requestType: optional(text),
      otherRefusals: optional(recordOf(text)),
      headers: optional(listOf(header)),
      sends: optional(listOf(text)),
      mediaTypes: optional(listOf(text)),
      failures: optional(oneOf('envelope')),
      example: anything,
    }),
  ),
  error: optional(method),
  handle: method,
});

const command = objectOf<Command>({
  name,
  summary: text,
  options: optional(
    recordOf(
      objectOf<CommandOption>({
        type: oneOf('string', 'boolean'),
        short: optional(text),
        value: optional(text),
        ...each(optional(flag), 'required', 'internal'),
      }),
    ),
  ),
  positionals: optional(listOf(text)),
  plain: optional(flag),
  run: method,
});

const parts = objectOf<Parts>({
  ...each(optional(method), 'authenticate', 'enter', 'screen', 'inspect', 'admit', 'route', 'order', 'attempted'),
  ...each(optional(method), 'revise', 'pay', 'settle', 'unsettled', 'answered'),
  essential: optional(flag),
  styles: optional(listOf(style)),
  vendors: optional(listOf(vendor)),
  routes: optional(listOf(route)),
  guards: optional(recordOf(method)),
  pathAliases: optional(recordOf(text)),
  passthroughRoutes: optional(listOf(objectOf<PassthroughRoute>({ prefix: name, target: method }))),
  commands: optional(listOf(command)),
  invariants: optional(listOf(objectOf<Invariant>({ name, check: method }))),
  ...each(optional(method), 'surrender', 'report', 'explain', 'diagnose', 'link', 'start', 'stop'),
});

/** The problem with the default export of a plugin's module, as a sentence; undefined: none. */
export function problemOfPlugin(candidate: unknown): string | undefined {
  if (typeof candidate !== 'object' || candidate === null) return 'its default export is not an object';
  return plugin(candidate, '');
}

/** The problem with the result of `create`, as a sentence; undefined: none. */
export function problemOfParts(candidate: unknown): string | undefined {
  if (typeof candidate !== 'object' || candidate === null)
    return `its \`create\` must return an object of parts, and returned ${describe(candidate)}`;
  return parts(candidate, '');
}
