/** Every page where nothing has happened yet, in every look; and how much is loaded at first. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { onlooker } from '../kit/console/browser.ts';
import { visitEveryPage } from '../kit/console/pages.ts';

/** The first load of the console, in bytes as they travel. */
const MOST_AT_FIRST = 350_000;

visitEveryPage('empty', (visited) => {
  for (const who of ['a stranger', 'somebody who is signed in']) {
    it(`loads less than 350 kB at first for ${who}`, async () => {
      const { browser, world, files } = visited();
      const at = await onlooker(browser, world.gateway, who === 'a stranger' ? undefined : world.people.ann);
      try {
        const names: string[] = [];
        at.page.on('response', (response) => {
          if (response.url().includes('/assets/'))
            names.push(new URL(response.url()).pathname.replace('/console/', ''));
        });
        await at.open('/');
        const sum = names.reduce((all, name) => all + gzipSync(readFileSync(join(files, name))).length, 0);
        assert.ok(names.length > 3, `only ${names.length} files were loaded`);
        assert.ok(sum < MOST_AT_FIRST, `${sum} bytes by gzip: ${names.join(', ')}`);
        // Pages are files of their own: there are more than were loaded.
        assert.ok(readdirSync(join(files, 'assets')).length > 2 * names.length, 'all pages are loaded at once');
      } finally {
        await at.close();
      }
    });
  }
});
