/** A browser before the console: built aside, signed in, and watched for all that must never happen. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { buildConsole, stampOf, stampOfSources } from '../../../scripts/console-build.mjs';
import type { Visitor } from './console.ts';

/** Cookies and passkeys are for an origin, which has to be known before the start. */
export { freePort } from '../../../scripts/free-port.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** So many times slower than it is runs what pages do: finds tests that look before a page has done what was asked for. */
const SLOWER = Number(process.env.TURNPIKE_SLOW_BROWSER ?? 1);
/** Whatever a page shall come to takes no longer, on slow machines as well. */
const PATIENCE_MS = 30_000 * SLOWER;
const { source: AXE } = createRequire(import.meta.url)('axe-core') as { readonly source: string };

/** For `env` of a gateway: the console as its sources are now, built once for all who ask. */
export async function builtConsole(): Promise<{ readonly TURNPIKE_CONSOLE_FILES: string }> {
  const stamp = stampOfSources();
  const dir = join(tmpdir(), `turnpike-console-${stamp.slice(0, 16)}`);
  if (stampOf(dir) === undefined) {
    const aside = mkdtempSync(join(tmpdir(), 'turnpike-console-'));
    try {
      await buildConsole(aside);
      // Somebody else may have been quicker.
      if (!existsSync(dir)) renameSync(aside, dir);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  }
  return { TURNPIKE_CONSOLE_FILES: dir };
}

/** Starts Chromium. Tests run as root in containers, where it has no sandbox. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'], timeout: 4 * PATIENCE_MS });
}

/** How somebody looks at the console. */
export interface Looks {
  readonly language?: 'en' | 'zh';
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The time zone of their machine; UTC unless it is said. */
  readonly zone?: string;
}

/** Somebody who looks at the console. */
export interface Onlooker {
  readonly page: Page;
  /** What must not happen and did: errors on the console of the browser, requests to other hosts, scripts that ran. */
  readonly problems: readonly string[];
  /** Opens an address below `/console`, and waits until everything is there. */
  open(path: string): Promise<void>;
  /** Goes there as a link of the console does, which loads the page alone. */
  go(path: string): Promise<void>;
  /** Waits until nothing loads any more. */
  settled(): Promise<void>;
  /** Changes how it looks without loading it anew. */
  look(looks: Looks): Promise<void>;
  /** Presses the button of the other language. */
  otherLanguage(): Promise<void>;
  /** What axe finds, a line each; of the whole page, or within a part of it. `colors`: only what the colors are to blame for. */
  violations(within?: Locator, what?: 'all' | 'colors'): Promise<readonly string[]>;
  /** What sticks out of the page, or of what is open above it, to the side, a line each. */
  overflow(): Promise<readonly string[]>;
  /** English sentences that are shown in Chinese, a line each. */
  untranslated(): Promise<readonly string[]>;
  /** Empties `problems`: what comes now belongs to another page. */
  forget(): void;
  close(): Promise<void>;
}

/**
 * Opens a browser context of its own. `who` is signed in already; without it, the visitor is not. `origin`: of a reverse proxy in front of the
 * gateway, whose certificate may be self-signed.
 */
export async function onlooker(
  browser: Browser,
  gateway: { readonly port: number } | { readonly origin: string },
  who: Pick<Visitor, 'cookies'> | undefined,
  looks: Looks = {},
): Promise<Onlooker> {
  const origin = 'origin' in gateway ? gateway.origin : `http://localhost:${gateway.port}`;
  const { language = 'en', scheme = 'light', width = 1_440, height = 900, zone = 'UTC' } = looks;
  const context = await browser.newContext({
    viewport: { width, height },
    locale: language === 'zh' ? 'zh-CN' : 'en-US',
    timezoneId: zone,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: 'origin' in gateway,
  });
  if (who !== undefined)
    await context.addCookies([...who.cookies].map(([name, value]) => ({ name, value, url: origin })));
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  if (SLOWER > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // What is refused on purpose is no mistake of the page: whoever is a stranger gets 401.
    if (/Failed to load resource: the server responded with a status of 4\d\d/.test(message.text())) return;
    problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^https?:$/.test(protocol) && host !== new URL(origin).host) problems.push(`request: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) problems.push(`answer: ${response.status()} ${response.url()}`);
  });
  let shown = scheme;
  const open = new Set<Request>();
  let begun = 0;
  page.on('request', (request) => {
    begun++;
    open.add(request);
  });
  page.on('requestfinished', (request) => void open.delete(request));
  page.on('requestfailed', (request) => void open.delete(request));
  // What an answer brings is drawn, and may ask for more: only whoever has been idle again and again has everything.
  const settled = async (): Promise<void> => {
    const until = Date.now() + PATIENCE_MS;
    for (let calm = 0; calm < 3; ) {
      const before = begun;
      const isIdle = await page.evaluate<boolean>(`(${IDLE})()`).catch((error: unknown) => {
        // The page went elsewhere meanwhile.
        if (page.isClosed()) throw error;
        return false;
      });
      calm = isIdle && open.size === 0 && begun === before ? calm + 1 : 0;
      if (Date.now() > until)
        throw new Error(`${page.url()} loads still: ${[...open].map((request) => request.url()).join(', ')}`);
    }
  };
  return {
    page,
    problems,
    settled,
    async open(path) {
      await page.goto(`${origin}/console${path}`);
      await settled();
    },
    async go(path) {
      if (page.url() === 'about:blank') await page.goto(`${origin}/console${path}`);
      else await page.evaluate(`history.pushState(null, '', '/console${path}')`);
      await settled();
    },
    async otherLanguage() {
      const before = await page.locator('html').getAttribute('lang');
      // What is open above the page covers the button.
      await page.evaluate('document.querySelector("button[lang]").click()');
      await page.locator(`html:not([lang="${before}"])`).waitFor({ state: 'attached' });
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    },
    async look({ scheme: colors, width: wide, height: high }) {
      const size = page.viewportSize();
      if (colors === shown && size?.width === wide) return;
      if (colors !== undefined) {
        shown = colors;
        await page.emulateMedia({ colorScheme: colors, reducedMotion: 'reduce' });
        await page.locator(`html[data-mantine-color-scheme="${colors}"]`).waitFor({ state: 'attached' });
      }
      if (wide !== undefined || high !== undefined)
        await page.setViewportSize({ width: wide ?? size?.width ?? 1_440, height: high ?? size?.height ?? 900 });
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
      // The page makes room for the navigation, or takes it back, in steps.
      await page.evaluate(`(${STILL})()`);
    },
    async violations(within = page.locator('html'), what = 'all') {
      if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(`${AXE}; undefined`);
      const found = await within.evaluate(
        (root, options) => (globalThis as unknown as { readonly axe: Axe }).axe.run(root, options),
        {
          resultTypes: ['violations'],
          // Styles of other hosts, of which there are none.
          preload: false,
          runOnly: what === 'all' ? RULES : ['color-contrast'],
        },
      );
      return found.violations.flatMap(({ id, help, nodes }) =>
        nodes.slice(0, 4).map(({ target, html, any }) => {
          const why = any.map(({ message }) => message).join('; ');
          return `axe ${id}: ${help}: ${target.join(' ')} ${html.slice(0, 160)} ${why.slice(0, 200)}`;
        }),
      );
    },
    async overflow() {
      // What follows the width of its place needs a few frames to do so.
      for (let tries = 0; ; tries++) {
        const out = await page.evaluate<readonly string[]>(`(${OVERFLOW})()`);
        if (out.length === 0 || tries === 40) return out;
        await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
      }
    },
    untranslated: () => page.evaluate<readonly string[]>(`(${UNTRANSLATED})()`),
    forget() {
      problems.length = 0;
    },
    async close() {
      await context.close();
    },
  };
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Runs in the page. Resolves once it has nothing to do, and tells whether nothing says that something is coming. Chromium may never call a page idle, so not longer than a while. */
const IDLE = `() => new Promise((resolve) => requestIdleCallback(() => setTimeout(() => requestAnimationFrame(() => {
  const coming = [...document.querySelectorAll('[role="status"][aria-label], .mantine-Center-root > .mantine-Loader-root')];
  resolve(document.readyState === 'complete' && !coming.some((each) => each.checkVisibility()));
})), { timeout: 250 }))`;

/** Runs in the page. What turns for ever is not waited for. */
const STILL = `() => Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
  .map(({ finished }) => finished))`;

/** Runs in the page. What scrolls inside its own frame may be as wide as it likes. */
const OVERFLOW = `() => {
  const wide = document.documentElement.clientWidth;
  const sticksOut = (element) => {
    const { right, width } = element.getBoundingClientRect();
    return width > 0 && right > wide + 1 && element.closest('.table-frame, pre') === null && element.checkVisibility();
  };
  const above = [...document.querySelectorAll('[role="dialog"] *, [role="menu"] *')].filter(sticksOut);
  if (document.documentElement.scrollWidth <= wide && above.length === 0) return [];
  const out = above.length > 0 ? above : [...document.querySelectorAll('body *')].filter(sticksOut);
  return ['the page is ' + document.documentElement.scrollWidth + ' wide', ...out.slice(0, 5).map(({ outerHTML }) => 'overflow: ' + outerHTML.slice(0, 140))];
}`;

/** Runs in the page. What users wrote has `translate`; what the gateway says in English only has `lang`; messages that come and go keep their language. */
const UNTRANSLATED = `() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!/(^|[^\\w.])[A-Za-z]?[a-z]+( [a-z]+){2}/.test(node.data)) continue;
    const element = node.parentElement;
    if (element.closest('code, pre, [class^="code-"], [translate="no"], textarea, script, style, [lang="en"], .mantine-Notification-root') === null && element.checkVisibility())
      found.push('not in Chinese: ' + node.data.slice(0, 120) + ' in ' + element.outerHTML.slice(0, 60));
  }
  return found;
}`;

/** What axe is in a page. */
interface Axe {
  run(root: unknown, options: object): Promise<{ readonly violations: readonly Violation[] }>;
}
interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly html: string;
    readonly any: readonly { readonly message: string }[];
  }[];
}

/** Looks until it is so: a page may draw what was asked for a moment after it was asked. Fails with what was wrong at last. */
export async function eventually(look: () => void | Promise<void>): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > until) throw error;
      await setTimeout(50);
    }
  }
}

/** Reads until it is what is wanted: equal to it, or a text like it. */
export function becomes(read: () => unknown, wanted: unknown, what?: string): Promise<void> {
  return eventually(async () => {
    const found = await read();
    if (wanted instanceof RegExp) assert.match(String(found), wanted, what);
    else assert.deepEqual(found, wanted, what);
  });
}

/** Fails where something happened that never must. */
export function assertClean(what: string, problems: readonly string[]): void {
  assert.equal(problems.join('\n'), '', what);
}
