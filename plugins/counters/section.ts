/** The section `counters` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';

export interface CountersSection {
  readonly driver: 'memory' | 'valkey';
  /** The server's URL; empty in memory. */
  readonly url: string;
  /** The prefix of all keys on the server. */
  readonly prefix: string;
}

export const section = schema<CountersSection>(
  settings('Rate-limit counters: requests, tokens, running calls, and sign-in attempts.', {
    driver: {
      description:
        'memory: in this gateway, lost on restart. valkey: on a Valkey or Redis server, so that several gateways enforce each limit together.',
      enum: ['memory', 'valkey'],
      default: 'memory',
    },
    url: {
      title: 'address such as valkeys://cache.example.com:6379/0',
      description:
        'The server: `valkey://` or `redis://`, with TLS `valkeys://` or `rediss://`; optionally `user:password@` before the host, and the database after it. Use an environment variable, because it contains a password.',
      type: 'string',
      pattern: '^$|^(valkeys?|rediss?)://[^\\s]+$',
      default: '',
    },
    prefix: {
      description: 'The prefix of its keys. Gateways that share limits need the same one.',
      type: 'string',
      pattern: '^[\\x21-\\x7e]{0,100}$',
      default: 'turnpike:',
    },
  }),
);
