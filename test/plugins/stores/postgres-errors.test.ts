/** What an error of PostgreSQL, or of the way there, means for what was being written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorKind, kindOf } from '../../../plugins/stores/postgres/errors.ts';

const KINDS: readonly (readonly [ErrorKind, string, readonly string[]])[] = [
  ['lost', 'a connection that broke', ['', 'EPIPE', 'ECONNRESET', 'ETIMEDOUT', '08006', '57P01', '25P03']],
  ['away', 'a server that cannot write now', ['53100', '58030', 'XX000', '25006', '55P03']],
  ['again', 'a transaction that met another', ['40001', '40P01', '26000']],
  ['statement', 'a statement that is wrong', ['23505', '22P02', '42601', '08P01', 'P0001', '57014']],
];

describe('an error of the store on PostgreSQL', () => {
  for (const [kind, what, codes] of KINDS) {
    it(`tells ${what} by its code`, () => {
      for (const code of codes) assert.equal(kindOf(Object.assign(new Error('no'), { code })), kind, code);
    });
  }
});
