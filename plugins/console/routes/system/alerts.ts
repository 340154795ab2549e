/** Alerts, for administrators: what is open, what was told, and the targets. */

import { Alerts } from '../../../../core/contracts/alerts.ts';
import { boolean, integer, listOf, objectOrNull, queryOf, record, text, unixSeconds } from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Alerts');
const USUAL = 50;
const MOST = 200;

const kind = { enum: ['budget', 'vendor', 'price', 'disk', 'backup'] } as const;
const level = { ...integer, description: 'The percentage that a budget has reached; 100 for every other kind.' };
const facts = {
  description:
    'What it says as data, for other languages: `about` (budget, credential, circuit, price, disk, backup-failed, backup-overdue) and what belongs to it. Empty for alerts of older releases.',
  type: 'object',
  additionalProperties: { type: ['string', 'number'] },
} as const;
const optionalTime = (description: string) => ({
  type: ['integer', 'null'],
  description: `Unix seconds; ${description}`,
});

const answer = record('Alerts', {
  open: listOf('OpenAlert', {
    subject: { ...text, description: 'Identifies it: `budget key-day 7`, `vendor main`.' },
    kind,
    level,
    title: text,
    text,
    facts,
    since: unixSeconds,
    resets_at: optionalTime('null: no period.'),
  }),
  events: listOf('AlertEvent', {
    at: unixSeconds,
    kind,
    subject: text,
    level,
    over: { ...boolean, description: 'The condition has ended.' },
    title: text,
    text,
    facts,
    deliveries: listOf('AlertDelivery', {
      target: {
        ...text,
        description: 'The name of the target; `owner`: the email to the owner of the key or account.',
      },
      state: { enum: ['waiting', 'sent', 'failed'], description: '`failed`: given up after several attempts.' },
      ended_at: optionalTime('null: it waits.'),
    }),
  }),
  targets: listOf('AlertTarget', {
    name: text,
    type: { enum: ['mail', 'webhook', 'slack', 'feishu', 'dingtalk', 'wecom'] },
    waiting: { ...integer, description: 'Events that wait for it.' },
    sent_at: optionalTime('null: nothing was delivered in the last 90 days.'),
    problem: { type: ['string', 'null'], description: 'Why the last attempt failed; null: it did not.' },
  }),
  quiet: objectOrNull('The quiet time; null: none.', {
    time: { ...text, description: 'As configured, with its zone: `22:00-07:00 Europe/Berlin`.' },
    now: boolean,
  }),
});

const tests = listOf('AlertTest', {
  target: text,
  problem: { type: ['string', 'null'], description: 'Null: the target accepted the message.' },
});

export function alertRoutes({ need }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'GET', '/api/alerts', {
      summary: 'Returns the open alerts, the latest events with their deliveries, and the targets.',
      search: queryOf({
        limit: { type: 'integer', minimum: 1, maximum: MOST, default: USUAL, description: 'Number of events.' },
      }),
      answer,
      async handle({ query }) {
        const alerts = need(Alerts);
        const [open, events, targets] = await Promise.all([
          alerts.open(),
          alerts.history(query.limit),
          alerts.targets(),
        ]);
        const quiet = alerts.quiet();
        return shownAs(answer, {
          open: open.map((alert) => ({ ...alert, since: secondsOf(alert.sinceMs) })),
          events: events.map((event) => ({ ...event, over: event.isOver })),
          targets,
          quiet: quiet && { time: quiet.time, now: quiet.isNow },
        });
      },
    }),
    route('admin', 'POST', '/api/alerts/test', {
      summary: 'Sends a test message to every target at once, also in the quiet time; returns what each responded.',
      answer: tests,
      handle: async () => shownAs(tests, await need(Alerts).test()),
    }),
  ];
}
