/** Channels and where models go, as gateway.yaml says and as they do: for administrators, to be looked at. */
import { Catalog, type ChannelStatus } from '../../../core/contracts/catalog.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import { schema } from '../../../core/plugin.ts';
import { priceSchema } from '../records/price.ts';
import { recentSchema, shownRecent } from '../records/recent.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, integer, number, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'Vendors';

const state = {
  enum: ['closed', 'open', 'half-open'],
  description:
    'closed: calls go there. open: none does for a while. half-open: the next one shows whether it is well again.',
};

const testBody = schema<{ readonly model?: string }>({
  type: 'object',
  additionalProperties: false,
  properties: {
    model: { description: 'The public name of a model that it serves.', type: 'string', maxLength: 256 },
  },
});

/** The rows. */
export function vendorRoutes({ host, need }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/vendor/',
      alsoAt: ['/api/vendor'],
      who: 'admin',
      summary: 'The channels of gateway.yaml and how they do. Neither their keys nor their addresses are shown.',
      tag: TAG,
      answer: {
        type: 'array',
        items: {
          title: 'Channel',
          type: 'object',
          required: [
            ...['name', 'vendor', 'on', 'weight', 'priority', 'state', 'open_until', 'last_failure', 'recent'],
            'models',
          ],
          properties: {
            name: text,
            vendor: text,
            on: { ...boolean, description: 'False where its key is empty.' },
            weight: number,
            priority: integer,
            state,
            open_until: { ...integer, description: 'Unix seconds; 0 unless it is open.' },
            last_failure: {
              type: ['object', 'null'],
              required: ['kind', 'status', 'at', 'message'],
              properties: {
                kind: text,
                status: { ...integer, description: "The vendor's; 0 where it did not answer." },
                at: unixSeconds,
                message: { ...text, description: 'What that means, in our words.' },
              },
            },
            recent: recentSchema,
            models: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name', 'model', 'state', 'failures'],
                properties: {
                  name: text,
                  model: { ...text, description: 'What it is called there.' },
                  state,
                  failures: { ...integer, description: 'In a row, up to now.' },
                },
              },
            },
          },
        },
      },
      handle: () => need(Catalog).channels().map(shown),
    }),
    route({
      method: 'GET',
      path: '/api/vendor/routes',
      who: 'admin',
      summary:
        'Where each model goes: its channels in the order of their priority, then its fallbacks; and what it costs.',
      tag: TAG,
      answer: {
        type: 'array',
        items: {
          title: 'ModelRoute',
          type: 'object',
          required: ['name', 'model', 'free', 'channels', 'fallback', 'price'],
          properties: {
            name: { ...text, description: 'The public name.' },
            model: { ...text, description: 'The model behind it, where it is another name of one.' },
            free: boolean,
            channels: {
              type: 'array',
              items: {
                type: 'object',
                required: ['channel', 'model', 'priority', 'weight'],
                properties: { channel: text, model: text, priority: integer, weight: number },
              },
            },
            fallback: { type: 'array', items: text },
            price: priceSchema,
          },
        },
      },
      handle() {
        const catalog = need(Catalog);
        return catalog.names().map((name) => {
          const model = catalog.require(name);
          return {
            name,
            model: model.name,
            free: model.free,
            channels: model.from
              .map(({ channel, model: there }) => ({
                channel: channel.name,
                model: there,
                priority: channel.priority,
                weight: channel.weight,
              }))
              .sort((a, b) => a.priority - b.priority),
            fallback: model.fallback,
            price: host.find(Prices)?.of(name) ?? null,
          };
        });
      },
    }),
    route({
      method: 'POST',
      path: '/api/vendor/:name/test',
      who: 'admin',
      errors: ['channel_not_found', 'model_not_found'],
      summary: "Asks a channel something small, at the gateway's expense, and says what came of it.",
      tag: TAG,
      body: testBody,
      answer: {
        title: 'ChannelTest',
        type: 'object',
        required: ['success', 'model', 'status', 'latency_ms', 'message'],
        properties: {
          success: boolean,
          model: { ...text, description: 'Which one was asked; empty where only its list of models was asked for.' },
          status: { ...integer, description: "The vendor's; 0 where it did not answer." },
          latency_ms: integer,
          message: text,
        },
      },
      async handle({ params: { name = '' }, body }) {
        const probe = await need(Catalog).probe(name, body.model);
        return {
          success: probe.ok,
          model: probe.model ?? '',
          status: probe.status ?? 0,
          latency_ms: probe.latencyMs,
          message: probe.message,
        };
      },
    }),
  ];
}

/** Member by member: what a channel may have beside is not shown by accident. */
function shown({ name, vendor, on, weight, priority, state, untilMs, lastFailure, recent, models }: ChannelStatus) {
  return {
    name,
    vendor,
    on,
    weight,
    priority,
    state,
    open_until: Math.ceil((untilMs ?? 0) / 1_000),
    last_failure:
      lastFailure === undefined
        ? null
        : {
            kind: lastFailure.kind,
            status: lastFailure.status ?? 0,
            at: secondsOf(lastFailure.atMs),
            message: meaningOf(lastFailure),
          },
    recent: shownRecent(recent),
    models,
  };
}

/** The vendor's own words may tell its address, or repeat our key. */
function meaningOf({ kind, status }: NonNullable<ChannelStatus['lastFailure']>): string {
  const said = status === undefined ? '' : ` (status ${status})`;
  switch (kind) {
    case 'connect':
      return 'No connection could be made: the address does not answer, or its certificate is not trusted.';
    case 'timeout':
      return `It did not answer in time${said}.`;
    case 'busy':
      return `It is at its limit${said}: the channel rests for as long as the vendor asks.`;
    case 'credential':
      return `It does not accept the key of the channel${said}: look at the key, and at what is left to pay with.`;
    case 'broken':
      return `Its answer broke off, or was none${said}.`;
    case 'status':
      return `It could not answer${said}.`;
    case 'refused':
      return `It refused the request itself${said}.`;
  }
}
