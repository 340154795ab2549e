/** What is installed on which version of Node. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

interface Locked {
  readonly version: string;
  readonly optional?: boolean;
  readonly engines?: { readonly node: string };
}

it('the release of SQLite for Node 20 is not installed on later ones, where it would be compiled for nothing', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  // npm leaves out an optional package whose versions of Node are others; its authors name later ones, too.
  const { optional, engines } = packages['node_modules/better-sqlite3']!;
  assert.deepEqual([optional, engines?.node], [true, '20.x']);
});
