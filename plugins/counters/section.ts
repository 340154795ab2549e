/** The section `counters` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';

/** What it says. */
export interface CountersSection {
  readonly driver: 'memory' | 'valkey';
  /** Of the server; empty in memory. */
  readonly url: string;
  /** What the names of all keys on the server begin with. */
  readonly prefix: string;
}

export const section = schema<CountersSection>({
  type: 'object',
  description: 'Where requests, tokens and running calls are counted, for limits and for sign-ins.',
  additionalProperties: false,
  default: {},
  properties: {
    driver: {
      description:
        'memory: in this gateway, lost on restart. valkey: on a Valkey or Redis server, so that several gateways enforce each limit together.',
      enum: ['memory', 'valkey'],
      default: 'memory',
    },
    url: {
      title: 'address such as valkeys://cache.example.com:6379/0',
      description:
        'The server: `valkey://` or `redis://`, with TLS `valkeys://` or `rediss://`; in front of the host `user:password@`, behind it the database. Read it from a variable, for it holds a password.',
      type: 'string',
      pattern: '^$|^(valkeys?|rediss?)://[^\\s]+$',
      default: '',
    },
    prefix: {
      description: 'What the names of its keys begin with. Gateways that share limits have the same.',
      type: 'string',
      pattern: '^[\\x21-\\x7e]{0,100}$',
      default: 'turnpike:',
    },
  },
});
