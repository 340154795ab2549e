/** Every page, before a world of one size: in both themes and languages, narrow and wide. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { PAGES } from '../../console/src/page-list.ts';
import { assertClean, becomes, builtConsole, freePort, type Onlooker, onlooker, startBrowser } from './browser.ts';
import { startWorld, type World, type WorldSize } from './world.ts';

const LANGUAGES = ['en', 'zh'] as const;
const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [1_440, 360] as const;
/** Pictures of every page go here, where somebody wants them. */
const PICTURES = process.env.TURNPIKE_PICTURES;

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
    /** One browser for all pages that somebody looks at in a language, with a cache, as people have. */
    function lookerFor(who: 'ann' | 'root', language: 'en' | 'zh'): Promise<Onlooker> {
      const name = `${who} ${language}`;
      const looker = lookers.get(name) ?? onlooker(browser, world.gateway, world.people[who], { language });
      lookers.set(name, looker);
      return looker;
    }

    for (const language of LANGUAGES) {
      for (const { name, path, group } of PAGES) {
        it(`shows ${name} in ${language} as it should be`, async () => {
          const at = await lookerFor(group === 'you' ? 'ann' : 'root', language);
          at.forget();
          await at.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
          await at.page.setViewportSize({ width: 1_440, height: 900 });
          await at.open(path);
          await becomes(() => at.page.locator('h1').count(), 1, 'a page has one title');
          await becomes(() => at.page.title(), / · Turnpike$/);
          // Colors have no language.
          const schemes = language === 'en' ? SCHEMES : (['light'] as const);
          await looksRight(at, `${name}-${size}-${language}`, { schemes, arrange: () => scene(name, at, world) });
        });
      }
    }
    more(() => ({ world, browser, files }));
  });
}

/** How a page is looked at. */
interface Ways {
  readonly schemes?: readonly (typeof SCHEMES)[number][];
  /** What is done before a picture is taken. */
  arrange?(): Promise<void>;
}

/** In both themes, unless others are asked for, narrow and wide. `name` is what it is called where something is wrong. */
export async function looksRight(at: Onlooker, name: string, { schemes = SCHEMES, arrange }: Ways = {}): Promise<void> {
  for (const scheme of schemes) {
    for (const width of WIDTHS) {
      await at.look({ scheme, width, height: width === 360 ? 740 : 900 });
      // The other theme is the same page in other colors.
      const found = await at.violations(undefined, scheme === 'light' ? 'all' : 'colors');
      const wrong = [...(await at.overflow()), ...found, ...at.problems];
      assertClean(`${name} in ${scheme} at ${width} px`, wrong);
    }
  }
  if (PICTURES !== undefined) {
    await arrange?.();
    for (const scheme of SCHEMES) await takePicture(at, PICTURES, name, scheme);
  }
  assert.notEqual(await at.page.title(), 'owned', 'markup ran as a script');
}

/** What a picture shows where a page at rest says little. */
async function scene(name: string, at: Onlooker, { aCall }: World): Promise<void> {
  if (aCall === '') return;
  await at.look({ width: 1_280, height: 800 });
  if (name === 'logs') await at.open(`/logs?open=${aCall}`);
  if (name !== 'playground') return;
  const prompt = at.page.getByPlaceholder(/^Enter a prompt/);
  if ((await prompt.count()) === 0) return;
  await prompt.fill('When does the bridge open?');
  await at.page.keyboard.press('Control+Enter');
  await at.settled();
  await at.page.mouse.wheel(0, 10_000);
}

/** Small files: WebP, which only the protocol below the driver takes. */
async function takePicture(at: Onlooker, dir: string, name: string, scheme: 'light' | 'dark'): Promise<void> {
  mkdirSync(dir, { recursive: true });
  for (const width of [1_280, 360]) {
    await at.look({ scheme, width, height: width === 360 ? 740 : 800 });
    const session = await at.page.context().newCDPSession(at.page);
    // The first one may still show how it looked before.
    await session.send('Page.captureScreenshot', { format: 'webp' });
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 75 });
    writeFileSync(join(dir, `${name}-${scheme}-${width}.webp`), Buffer.from(data, 'base64'));
    await session.detach();
  }
}
