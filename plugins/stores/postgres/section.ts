/** The section `store` of gateway.yaml where the store is PostgreSQL. */

import { schema } from '../../../core/plugin.ts';
import { duration } from '../../../core/sdk.ts';

/** The section, checked and with its defaults. */
export interface PostgresSection {
  readonly driver: string;
  readonly url: string;
  readonly pool: number;
  readonly statementTimeout: string;
  readonly data: string;
}

export const section = schema<PostgresSection>({
  type: 'object',
  description:
    'Where the gateway keeps what must last: a database on a PostgreSQL server, which several gateways may share.',
  additionalProperties: false,
  required: ['url'],
  properties: {
    driver: { type: 'string', description: 'The store, by name or package.', minLength: 1, examples: ['postgres'] },
    url: {
      title: 'address such as postgres://user:password@host:5432/database?sslmode=verify-full',
      type: 'string',
      description: 'The database. Read it from a variable, for it holds a password.',
      pattern: '^(postgres|postgresql)://',
      examples: ['postgres://turnpike@127.0.0.1:5432/turnpike'],
    },
    pool: {
      type: 'integer',
      description: 'How many connections read. Two more write and listen.',
      minimum: 1,
      maximum: 100,
      default: 4,
    },
    statementTimeout: { ...duration, description: 'How long one statement may take.', default: '10s' },
    data: {
      type: 'string',
      description:
        'The folder of the master key and the control socket, relative to this file; each gateway of a machine has its own.',
      minLength: 1,
      examples: ['./data'],
      default: './data',
    },
  },
});
