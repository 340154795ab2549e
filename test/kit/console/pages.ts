/** Every page, before a world of one size: in both themes and languages, narrow and wide. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { PAGES } from '../../../console/src/page-list.ts';
import { assertClean, becomes, builtConsole, freePort, type Onlooker, onlooker, startBrowser } from './browser.ts';
import { isWhole } from './whole.ts';
import { startWorld, type World, type WorldSize } from './world.ts';

/** Each theme with one of the widths. */
const LOOKS = [
  { scheme: 'light', width: 1_440, height: 900 },
  { scheme: 'dark', width: 360, height: 740 },
] as const;
/** Pictures of every page go here, where somebody wants them. */
export const PICTURES = process.env.TURNPIKE_PICTURES;

/** What a suite of it has. */
export interface Visited {
  readonly world: World;
  readonly browser: Browser;
  /** The folder of the console that is served. */
  readonly files: string;
}

/** Visits every page with the data of that size; `more` adds tests beside. */
export function visitEveryPage(size: WorldSize, more: (visited: () => Visited) => void = () => {}): void {
  const name = { empty: 'a world that is empty', normal: 'a small company', many: 'ten thousand of everything' }[size];
  describe(`the console before ${name}`, () => {
    let world: World;
    let browser: Browser;
    let files: string;
    before(async () => {
      const env = await builtConsole();
      files = env.TURNPIKE_CONSOLE_FILES;
      world = await startWorld(size, {
        port: await freePort(),
        env,
        ...(PICTURES !== undefined && { words: 'build server' }),
      });
      browser = await startBrowser();
    });
    after(async () => {
      await browser?.close();
      await world?.stop();
    });

    const lookers = new Map<string, Promise<Onlooker>>();
    /** One page of the browser for all visits of a user: only the first one is loaded as a whole. */
    function lookerFor(who: 'ann' | 'root'): Promise<Onlooker> {
      const looker = lookers.get(who) ?? onlooker(browser, world.gateway, world.people[who]);
      if (!lookers.has(who))
        lookers.set(
          who,
          looker.then((at) => at.open('/')).then(() => looker),
        );
      return lookers.get(who)!;
    }

    /** Colors and width change once for all pages: each change costs more than going to a page. */
    for (const look of LOOKS) {
      for (const { name, path, who } of placesOf(size)) {
        it(`shows ${name} in ${look.scheme} at ${look.width} px as it should be`, async () => {
          const at = await lookerFor(who);
          at.forget();
          await at.look(look);
          await at.go(path);
          await becomes(() => at.page.locator('h1').count(), 1, 'a page has one title');
          await becomes(() => at.page.title(), / · Turnpike$/);
          // The colors of the dark theme are those of a small company's pages.
          const isSeen = size === 'normal' || look.scheme === 'light' || (isWhole && size === 'empty');
          await isClean(at, name, isSeen ? await at.violations() : []);
          if (size !== 'many') await inChinese(at, name);
        });
      }
    }
    if (PICTURES !== undefined) {
      for (const { name, path, who } of placesOf(size)) {
        it(`takes pictures of ${name}`, async () => {
          const at = await lookerFor(who);
          await at.look({ scheme: 'light', width: 1_280, height: 800 });
          await at.go(path);
          await scene(name, at, world);
          await takePictures(at, PICTURES, `${name}-${size}`);
        });
      }
    }
    more(() => ({ world, browser, files }));
  });
}

interface Place {
  readonly name: string;
  readonly path: string;
  readonly who: 'ann' | 'root';
}

/** What is a page of its own to those who look at it. Pictures of it have a `+` in their names. */
const TABS: readonly Place[] = [
  { name: 'home+root', path: '/', who: 'root' },
  { name: 'logs+all', path: '/logs?whose=all&range=30d', who: 'root' },
  { name: 'usage+all', path: '/usage?whose=all&range=30d', who: 'root' },
  { name: 'wallet+orders', path: '/wallet?tab=orders', who: 'ann' },
  { name: 'security+root', path: '/security', who: 'root' },
  { name: 'users+invitations', path: '/users?tab=invitations', who: 'root' },
  { name: 'payments+codes', path: '/payments?tab=codes', who: 'root' },
  { name: 'payments+plans', path: '/payments?tab=plans', who: 'root' },
  { name: 'vendors+routes', path: '/vendors?tab=routes', who: 'root' },
  { name: 'prices+updates', path: '/prices?tab=updates', who: 'root' },
];

/** Ten thousand of something change lists only: their tabs are seen with less. */
function placesOf(size: WorldSize): readonly Place[] {
  const pages = PAGES.map(({ name, path, group }) => ({ name, path, who: group === 'you' ? 'ann' : 'root' }) as const);
  return size === 'many' ? pages : [...pages, ...TABS];
}

/** Looks at what is shown, also in Chinese: light and wide, dark and narrow. `name` is what it is called where something is wrong. */
export async function looksRight(at: Onlooker, name: string): Promise<void> {
  for (const look of LOOKS) {
    await at.look(look);
    await isClean(at, `${name} in ${look.scheme} at ${look.width} px`, await at.violations());
  }
  await inChinese(at, name);
  await at.look(LOOKS[0]);
}

/** The same for several addresses of a page, with fewer changes of how it looks, which take longer than going there. */
export async function allLookRight(at: Onlooker, paths: readonly string[]): Promise<void> {
  for (const look of LOOKS) {
    await at.look(look);
    for (const path of paths) {
      await at.go(path);
      await isClean(at, `${path} in ${look.scheme} at ${look.width} px`, await at.violations());
      await inChinese(at, path);
    }
  }
}

/** The parts and colors are those of English, which axe has seen. */
async function inChinese(at: Onlooker, name: string): Promise<void> {
  await at.otherLanguage();
  try {
    await isClean(at, `${name} in Chinese`, await at.untranslated());
  } finally {
    await at.otherLanguage();
  }
}

async function isClean(at: Onlooker, name: string, found: readonly string[]): Promise<void> {
  assertClean(name, [...(await at.overflow()), ...found, ...at.problems]);
  assert.notEqual(await at.page.title(), 'owned', 'markup ran as a script');
}

/** What a picture shows where a page at rest says little. */
async function scene(name: string, at: Onlooker, { aCall }: World): Promise<void> {
  if (aCall === '') return;
  if (name === 'logs') await at.go(`/logs?open=${aCall}`);
  if (name !== 'playground') return;
  const prompt = at.page.getByPlaceholder(/^Enter a prompt/);
  if ((await prompt.count()) === 0) return;
  await prompt.fill('When does the bridge open?');
  await at.page.keyboard.press('Control+Enter');
  await at.settled();
  await at.page.mouse.wheel(0, 10_000);
}

/** As the documentation shows it, and as unlike that as can be. Small files: WebP, which only the protocol below the driver takes. */
export async function takePictures(at: Onlooker, dir: string, name: string): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const session = await at.page.context().newCDPSession(at.page);
  const take = async (as: string): Promise<void> => {
    // The first one may still show how it looked before.
    await session.send('Page.captureScreenshot', { format: 'webp' });
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 75 });
    writeFileSync(join(dir, `${name}-${as}.webp`), Buffer.from(data, 'base64'));
  };
  await at.look({ scheme: 'light', width: 1_280, height: 800 });
  await take('en-light-1280');
  await at.otherLanguage();
  await at.look(LOOKS[1]);
  await take('zh-dark-360');
  await at.otherLanguage();
  await session.detach();
}
