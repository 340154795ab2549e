/** Channels and routing: their configuration and health, for administrators. */

import { Catalog, type ChannelStatus } from '../../../../core/contracts/catalog.ts';
import { Prices } from '../../../../core/contracts/prices.ts';
import { bodyOf, boolean, integer, list, listOf, number, record, text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { priceSchema } from '../../records/price.ts';
import { recentSchema, shownRecent } from '../../records/usage/recent.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Vendors');

const state = {
  enum: ['closed', 'open', 'half-open'],
  description:
    'closed: calls are sent to it. open: no calls until the pause is over. half-open: the next call decides.',
};

const testBody = bodyOf([], {
  model: { description: 'The public name of a model that it serves.', type: 'string', maxLength: 256 },
});

export function vendorRoutes({ host, need }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'GET', '/api/vendor/', {
      summary: 'Lists the channels of gateway.yaml and their health, without keys and addresses.',
      answer: listOf('Channel', {
        name: text,
        vendor: text,
        on: { ...boolean, description: 'False: its key is empty.' },
        weight: number,
        priority: integer,
        state,
        open_until: { ...integer, description: 'Unix seconds; 0 unless the circuit is open.' },
        last_failure: {
          type: ['object', 'null'],
          required: ['kind', 'status', 'at', 'message'],
          properties: {
            kind: text,
            status: { ...integer, description: "The vendor's HTTP status; 0: no response." },
            at: unixSeconds,
            message: { ...text, description: 'The meaning of the status.' },
          },
        },
        recent: recentSchema,
        keys: {
          ...list({
            number: { ...integer, description: 'Its position in gateway.yaml, from 1.' },
            state: {
              enum: ['available', 'paused', 'refused'],
              description: 'paused: the vendor has limited it. refused: the vendor does not accept it.',
            },
            until: { ...integer, description: 'End of the pause, Unix seconds; 0 if it is available.' },
          }),
          description: 'Its keys that are not empty, without the keys themselves.',
        },
        models: list({
          name: text,
          model: { ...text, description: 'The upstream model.' },
          state,
          failures: { ...integer, description: 'Consecutive failures.' },
        }),
      }),
      handle: () => need(Catalog).channels().map(shownChannel),
    }),
    route('admin', 'GET', '/api/vendor/routes', {
      summary: 'Lists the routing of each model: channels by priority, fallbacks, and the price.',
      answer: listOf('ModelRoute', {
        name: { ...text, description: 'The public name.' },
        model: { ...text, description: 'The model behind it, if this name is an alias.' },
        free: boolean,
        channels: list({ channel: text, model: text, priority: integer, weight: number }),
        fallback: { type: 'array', items: text },
        price: priceSchema,
      }),
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
    route('admin', 'POST', '/api/vendor/:name/test', {
      errors: ['channel_not_found', 'model_not_found'],
      summary: 'Tests a channel with a small call that the gateway pays for.',
      body: testBody,
      answer: record('ChannelTest', {
        success: boolean,
        model: { ...text, description: "The tested model; empty if only the vendor's model list was requested." },
        status: { ...integer, description: "The vendor's HTTP status; 0: no response." },
        latency_ms: integer,
        message: text,
      }),
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

/** Copied member by member, so that no other member of a channel leaks. */
function shownChannel(channel: ChannelStatus) {
  const { name, vendor, on, weight, priority, state, untilMs, lastFailure, recent, keys, models } = channel;
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
    keys: keys.map((key) => ({ number: key.number, state: key.state, until: Math.ceil((key.untilMs ?? 0) / 1_000) })),
    models,
  };
}

/** The vendor's own error text may contain its address or our key. */
function meaningOf({ kind, status }: NonNullable<ChannelStatus['lastFailure']>): string {
  const statusText = status === undefined ? '' : ` (status ${status})`;
  switch (kind) {
    case 'connect':
      return 'The connection failed: the address does not respond, or its certificate is not trusted.';
    case 'timeout':
      return `It did not respond in time${statusText}.`;
    case 'busy':
      return `It is rate limited${statusText}: the channel is skipped for the time that the vendor requested.`;
    case 'credential':
      return `It does not accept the key of the channel${statusText}: check the key and the credit at the vendor.`;
    case 'broken':
      return `Its answer was truncated or empty${statusText}.`;
    case 'status':
      return `It could not answer${statusText}.`;
    case 'refused':
      return `It refused the request as invalid${statusText}.`;
  }
}
