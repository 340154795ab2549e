/** Every page of a small company's console, in every look, and what strangers see of it. */
import { it } from 'node:test';
import { onlooker } from '../kit/browser.ts';
import { looksRight, visitEveryPage } from '../kit/pages.ts';

visitEveryPage('normal', (visited) => {
  for (const path of ['/', '/register', '/forgot', '/reset?email=ann%40example.com&code=abc']) {
    for (const language of ['en', 'zh'] as const) {
      it(`shows ${path} to a stranger in ${language} as it should be`, async () => {
        const { browser, world } = visited();
        const at = await onlooker(browser, world.gateway, undefined, { language });
        try {
          await at.open(path);
          await looksRight(at, `${path === '/' ? 'sign-in' : /\w+/.exec(path)?.[0]}-normal-${language}`);
        } finally {
          await at.close();
        }
      });
    }
  }
});
