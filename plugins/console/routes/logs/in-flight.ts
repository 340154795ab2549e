/** Running calls: the user's, and for administrators those of all users. */

import { Running, type RunningExchange } from '../../../../core/contracts/running.ts';
import { boolean, integer, object, record, text } from '../../format/schemas.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Logs');
/** Calls per response. */
const MOST = 200;

const callSchema = record('RunningCall', {
  id: { ...text, description: 'Its `request_id` in the log.' },
  started_at_ms: { ...integer, description: 'Unix milliseconds.' },
  ms: { ...integer, description: 'Running time in milliseconds.' },
  username: { ...text, description: 'Empty until the caller is authenticated.' },
  token_name: text,
  style: { ...text, description: 'Empty for passthrough routes.' },
  model: { ...text, description: 'Empty until the request was read.' },
  stream: boolean,
  channel: { type: ['string', 'null'], description: 'The channel of the last upstream attempt; null: none yet.' },
  attempts: integer,
  phase: {
    enum: ['waiting', 'asking', 'answering'],
    description:
      'waiting: before the first upstream attempt. asking: an upstream attempt runs. answering: the client received a part of the answer.',
  },
  output_tokens: { ...integer, description: 'So far.' },
});

const total = {
  ...integer,
  description: `Running calls in all gateways that answered; at most ${MOST} are listed.`,
};

const ownAnswer = object({ total, items: { type: 'array', items: callSchema } });

const answer = record('RunningCalls', {
  total,
  items: {
    type: 'array',
    items: {
      title: 'GatewayCall',
      type: 'object',
      required: [...callSchema.required, 'gateway'],
      properties: {
        ...callSchema.properties,
        gateway: {
          type: ['string', 'null'],
          description: 'The gateway, `HOST:PORT`; null: there is only one on the database.',
        },
      },
    },
  },
});

export function inFlightRoutes({ need }: Tools): readonly ApiRoute[] {
  const running = (of: { readonly accountId?: number }) => need(Running).inFlight({ ...of, limit: MOST });

  return [
    route('member', 'GET', '/api/log/self/live', {
      summary: 'Lists your running calls, newest first.',
      answer: ownAnswer,
      async handle({ account }) {
        const { total, items } = await running({ accountId: account.id });
        return { total, items: items.map(shownCall) };
      },
    }),
    route('admin', 'GET', '/api/log/live', {
      summary: 'Lists the running calls of all users, newest first.',
      answer,
      async handle() {
        const { total, items } = await running({});
        return { total, items: items.map((x) => ({ ...shownCall(x), gateway: x.gateway ?? null })) };
      },
    }),
  ];
}

function shownCall(x: RunningExchange) {
  const { id, startedMs, ms, holder, style, model, stream, channel, attempts, phase, outputTokens } = x;
  return {
    id,
    started_at_ms: startedMs,
    ms,
    username: holder?.account.name ?? '',
    token_name: holder?.key.name ?? '',
    style,
    model,
    stream,
    channel: channel ?? null,
    attempts,
    phase,
    output_tokens: outputTokens,
  };
}
