/** The section `alerts` of gateway.yaml. */
import { type Accepted, typed } from '../../core/plugin.ts';
import { duration, settings } from '../../core/sdk.ts';

const amount = { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000_000 } as const;
const url = (of: string) =>
  ({
    type: 'string',
    pattern: '^https?://[^\\s]+$',
    description: `The URL ${of}. It may be in a private network.`,
  }) as const;

/** How the section must look. */
export const alertsSection = typed(
  settings('Tells administrators about budgets, vendors, prices, disk and backups.', {
    to: {
      type: 'array',
      maxItems: 20,
      default: [],
      description: 'Where alerts are sent. Empty: they are shown in the console only.',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 60, description: 'Its name; default: its type.' },
          mail: { type: 'string', minLength: 3, maxLength: 254, description: 'An email address; needs `mail.smtp`.' },
          webhook: url('that gets `{"alerts": […]}`'),
          slack: url('of an incoming webhook of Slack, or of a service with its format, such as Mattermost'),
          feishu: url('of a custom bot of Feishu or Lark'),
          dingtalk: url('of a custom bot of DingTalk'),
          wecom: url('of a group bot of WeCom'),
          secret: {
            type: 'string',
            default: '',
            description: 'The key of the signature, for webhook, feishu and dingtalk; empty: not signed.',
          },
        },
        oneOf: ['mail', 'webhook', 'slack', 'feishu', 'dingtalk', 'wecom'].map((type) => ({ required: [type] })),
      },
    },
    levels: {
      type: 'array',
      minItems: 1,
      maxItems: 10,
      uniqueItems: true,
      items: { type: 'integer', minimum: 1, maximum: 100 },
      default: [50, 80, 95, 100],
      description: 'The percentages of a budget that are told.',
    },
    budget: settings(
      'Amounts per calendar month (UTC), in currency units, that are only told: they refuse no call. Limits of keys, departments and plans are watched without them.',
      {
        gateway: { ...amount, description: 'What all calls cost together.' },
        person: { ...amount, description: 'What the calls of each user cost.' },
        channels: {
          type: 'object',
          additionalProperties: amount,
          default: {},
          description: 'What the calls that each of these channels served cost the users.',
        },
      },
    ),
    vendors: {
      ...duration,
      default: '5m',
      description: 'A channel is told if its circuit is not closed for this long, or its key is refused; `0s`: never.',
    },
    prices: { type: 'boolean', default: true, description: 'Whether prices that differ from the list price are told.' },
    disk: { type: 'boolean', default: true, description: 'Whether a nearly full disk is told.' },
    backups: { type: 'boolean', default: true, description: 'Whether failed and overdue scheduled backups are told.' },
    quiet: {
      type: 'string',
      pattern: '^$|^([01]\\d|2[0-3]):[0-5]\\d-([01]\\d|2[0-3]):[0-5]\\d$',
      default: '',
      description: 'A time of the day in which nothing is sent: `22:00-07:00`. Alerts of that time are sent after it.',
    },
    zone: { type: 'string', default: 'UTC', description: 'The time zone of `quiet`: `Europe/Berlin`.' },
  }),
);

export type AlertsSection = Accepted<typeof alertsSection>;
/** Where alerts are sent: exactly one of the types. */
export type TargetSection = AlertsSection['to'][number];
