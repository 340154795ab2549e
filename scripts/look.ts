/**
 * `npm run look -- logs --theme dark`: opens a page of the console with test data in a browser; prints problems and
 * takes a screenshot.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { PAGES } from '../console/src/page-list.ts';
import { builtConsole, freePort, onlooker, startBrowser } from '../test/kit/console/browser.ts';
import { startWorld, WORLD_SIZES, type WorldSize } from '../test/kit/console/world.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    as: { type: 'string', default: 'root' },
    data: { type: 'string', default: 'normal' },
    lang: { type: 'string', default: 'en' },
    theme: { type: 'string', default: 'light' },
    width: { type: 'string', default: '1440' },
    height: { type: 'string', default: '900' },
    search: { type: 'string', default: '' },
    open: { type: 'string', multiple: true, default: [] },
    out: { type: 'string', default: '' },
  },
});
const [page = 'home'] = positionals;
const path = page.startsWith('/') ? page : PAGES.find(({ name }) => name === page)?.path;
if (path === undefined || !WORLD_SIZES.includes(values.data as WorldSize)) {
  process.stderr.write(
    `usage: npm run look -- PAGE|/ADDRESS [--as root|ann|nobody] [--data ${WORLD_SIZES.join('|')}] [--lang en|zh] [--theme light|dark]\n`,
  );
  process.stderr.write(
    `  [--width 360] [--search '?a=b'] [--open 'text or selector to click' …] [--out FILE.png]; pages: ${PAGES.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}
async function built(tries = 12): ReturnType<typeof builtConsole> {
  try {
    return await builtConsole();
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    return built(tries - 1);
  }
}
const world = await startWorld(values.data as WorldSize, { port: await freePort(), env: await built() });
const browser = await startBrowser();
const who = values.as === 'nobody' ? undefined : world.people[values.as as 'root' | 'ann'];
const at = await onlooker(browser, world.gateway, who, {
  language: values.lang as 'en' | 'zh',
  scheme: values.theme as 'light' | 'dark',
  width: Number(values.width),
  height: Number(values.height),
});
try {
  await at.open(`${path}${values.search}`);
  for (const what of values.open) {
    const by = /^[.#[]/.test(what) ? at.page.locator(what) : at.page.getByText(what, { exact: true });
    await by.first().click();
    await at.settled();
  }
  const found = [...(await at.violations()), ...(await at.overflow()), ...at.problems];
  process.stdout.write(`${found.length === 0 ? 'nothing wrong' : found.join('\n')}\n`);
  if (values.out !== '') {
    mkdirSync(dirname(values.out), { recursive: true });
    await at.page.screenshot({ path: values.out, fullPage: true });
  }
} finally {
  await browser.close();
  await world.stop().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
}
process.exit();
