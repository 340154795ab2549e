/** Every page of a small company's console, in every look, and what strangers see of it. */
import { it } from 'node:test';
import { onlooker } from '../kit/console/browser.ts';
import { looksRight, PICTURES, takePictures, visitEveryPage } from '../kit/console/pages.ts';

visitEveryPage('normal', (visited) => {
  for (const path of ['/', '/register', '/forgot', '/reset?email=ann%40example.com&code=abc']) {
    it(`shows ${path} to a stranger as it should be`, async () => {
      const { browser, world } = visited();
      const at = await onlooker(browser, world.gateway, undefined);
      try {
        await at.open(path);
        const name = path === '/' ? 'sign-in' : /\w+/.exec(path)![0];
        await looksRight(at, name);
        if (PICTURES !== undefined) await takePictures(at, PICTURES, `${name}-normal`);
      } finally {
        await at.close();
      }
    });
  }
});
