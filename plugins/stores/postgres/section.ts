/** The section `store` of gateway.yaml for PostgreSQL. */

import { schema } from '../../../core/plugin.ts';
import { duration } from '../../../core/sdk.ts';

/** The validated section. */
export interface PostgresSection {
  readonly driver: string;
  readonly url: string;
  readonly pool: number;
  readonly statementTimeout: string;
  readonly data: string;
}

export const section = schema<PostgresSection>({
  type: 'object',
  description: 'The durable store: a database on a PostgreSQL server, which several gateways may share.',
  additionalProperties: false,
  required: ['url'],
  properties: {
    driver: {
      type: 'string',
      description: 'The store plugin, by name or package.',
      minLength: 1,
      examples: ['postgres'],
    },
    url: {
      title: 'address such as postgres://user:password@host:5432/database?sslmode=verify-full',
      type: 'string',
      description: 'The database. Use an environment variable, because it contains a password.',
      pattern: '^(postgres|postgresql)://',
      examples: ['postgres://turnpike@127.0.0.1:5432/turnpike'],
    },
    pool: {
      type: 'integer',
      description: 'The number of read connections. Two more write and listen.',
      minimum: 1,
      maximum: 100,
      default: 4,
    },
    statementTimeout: { ...duration, description: 'The timeout of a statement.', default: '10s' },
    data: {
      type: 'string',
      description:
        'The folder of the master key and the control socket, relative to this file; gateways on the same machine need different folders.',
      minLength: 1,
      examples: ['./data'],
      default: './data',
    },
  },
});
