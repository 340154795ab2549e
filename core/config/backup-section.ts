/** The section `backup` of gateway.yaml: when scheduled backups are made, where they are stored, and which are kept. */

import { type Accepted, typed } from '../contracts/definitions.ts';
import { durationMs, duration as durationSchema } from './values.ts';

/** `backup` as written. */
export type BackupSection = NonNullable<Accepted<typeof backupSchema>>;
/** A bucket of S3 or a compatible object storage. */
export type BucketSection = Exclude<BackupSection['to'], string>;
/** How many backups are kept. */
export type KeepSection = BackupSection['keep'];

/** `backup` as used. */
export interface BackupSettings extends Omit<BackupSection, 'every'> {
  readonly everyMs: number;
}

/** Reads a validated section; undefined: no scheduled backups. */
export function readBackup(value: unknown): BackupSettings | undefined {
  if (value === null || value === undefined) return undefined;
  const { every, ...same } = value as BackupSection;
  return { ...same, everyMs: durationMs(every) };
}

/** A shorter interval would leave no time between two backups of a large database. */
export const SHORTEST_MS = 60_000;

const count = (description: string, byDefault: number) =>
  ({ type: 'integer', minimum: 0, maximum: 1_000, description, default: byDefault }) as const;

/** Its schema; null: no scheduled backups. */
export const backupSchema = typed({
  type: ['object', 'null'],
  description: 'Scheduled backups of the database, each proven by a restore. Without it, none are made.',
  additionalProperties: false,
  required: ['to'],
  properties: {
    every: { ...durationSchema, description: 'The interval, at least one minute.', default: '1d' },
    to: {
      title: 'folder, or a bucket with endpoint, bucket, accessKey and secretKey',
      description: 'Where backups are stored: a folder, relative to this file, or S3-compatible object storage.',
      anyOf: [
        { type: 'string', minLength: 1, examples: ['./backups'] },
        {
          type: 'object',
          additionalProperties: false,
          required: ['endpoint', 'bucket', 'accessKey', 'secretKey'],
          properties: {
            endpoint: { type: 'string', pattern: '^https?://', description: 'The URL of the service.' },
            bucket: { type: 'string', minLength: 1, pattern: '^[^/?#]+$' },
            prefix: { type: 'string', description: 'Before the names of backups: `turnpike/`.' },
            region: { type: 'string', minLength: 1, description: 'Default: `us-east-1`.' },
            accessKey: { type: 'string', minLength: 1 },
            secretKey: { type: 'string', minLength: 1, description: 'Read it from the environment.' },
          },
        },
      ],
    },
    keep: {
      type: 'object',
      description: 'Which backups are kept: those that any of these numbers covers. Older ones are deleted.',
      additionalProperties: false,
      properties: {
        last: { ...count('The newest backups.', 3), minimum: 1 },
        daily: count('The newest backup of each of this many days.', 7),
        weekly: count('The newest backup of each of this many weeks.', 4),
      },
      default: {},
    },
    encrypt: {
      title: '"master-key", or a passphrase',
      description: 'Encrypts backups with the master key of the database, or with a passphrase.',
      anyOf: [
        { const: 'master-key' },
        {
          type: 'object',
          additionalProperties: false,
          required: ['passphrase'],
          properties: { passphrase: { type: 'string', minLength: 12 } },
        },
      ],
    },
  },
  default: null,
});
