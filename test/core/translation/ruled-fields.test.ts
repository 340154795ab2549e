/** Members that are checked and priced: no spelling gets past. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson } from '../../../core/bytes/json-body.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { checkPlaces, ROUTING, SEARCHING } from '../../../core/translation/quirks/ruled-fields.ts';

const NAMES = [...ROUTING, ...SEARCHING, 'model', 'max_tokens', 'service_tier', 'tools'];
const check = (name: string): void => checkPlaces(scanJson(Buffer.from(JSON.stringify({ [name]: 1 }))));

describe('a member that prices and limits depend on', () => {
  it('is taken as it is spelt', () => {
    for (const name of NAMES) check(name);
  });

  it('is refused in any other spelling, in small letters, too', () => {
    for (const name of NAMES) {
      const others = [
        name.toLowerCase(),
        name.toUpperCase(),
        name.charAt(0).toUpperCase() + name.slice(1),
        `${name}[]`,
      ];
      for (const other of others.filter((each) => each !== name)) {
        assert.throws(
          () => check(other),
          (error) => error instanceof GatewayError && error.message.includes(`\`${name}\``),
          other,
        );
      }
    }
  });

  it('may have a name that only contains one', () => {
    for (const name of ['models_', 'my_model', 'toolset', 'streams']) check(name);
  });
});
