/** Whatever opens above a page, by keyboard alone: the focus goes in and comes back, Escape closes it, and axe finds nothing in it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  assertClean,
  becomes,
  builtConsole,
  eventually,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { startWorld, type World } from '../kit/console/world.ts';

/** Something that is pressed, and what it opens. */
interface Opener {
  readonly press: readonly ['button' | 'link' | 'menuitem' | 'treeitem', string | RegExp];
  readonly opens: 'dialog' | 'menu';
  /** What opens from there. */
  readonly inside?: readonly Opener[];
  /** The button that alone closes it; else Escape does. */
  readonly closedBy?: string;
}
interface Place {
  readonly who: 'root' | 'ann';
  readonly path: string;
  readonly openers: readonly Opener[];
}

const dialog = (press: Opener['press'], ...inside: readonly Opener[]): Opener => ({ press, opens: 'dialog', inside });
const menu = (press: Opener['press'], ...inside: readonly Opener[]): Opener => ({ press, opens: 'menu', inside });

/** The first row of a list that begins with a time. */
const LATEST = ['button', /ago$/] as const;
const PLACES: readonly Place[] = [
  {
    who: 'ann',
    path: '/keys',
    openers: [
      menu(['button', 'Theme']),
      menu(['button', /^Account/]),
      dialog(['button', /^Search pages/]),
      dialog(['button', 'New key']),
      menu(
        ['button', /^More actions for/],
        dialog(['menuitem', 'Edit']),
        dialog(['menuitem', 'Rotate']),
        dialog(['menuitem', 'Delete']),
      ),
    ],
  },
  { who: 'ann', path: '/wallet', openers: [dialog(['button', /^Extend plan/])] },
  { who: 'ann', path: '/wallet?tab=orders', openers: [dialog(['button', 'Billing details'])] },
  { who: 'ann', path: '/wallet?tab=statement', openers: [menu(['button', 'Statement of a month'])] },
  {
    who: 'ann',
    path: '/security',
    openers: [
      { ...dialog(['button', /access token$|^Renew/]), closedBy: 'I have saved it' },
      dialog(['button', 'Delete my account']),
    ],
  },
  {
    who: 'root',
    path: '/security',
    openers: [dialog(['button', 'New backup codes']), dialog(['button', 'Create service token'])],
  },
  { who: 'root', path: '/usage?whose=all&range=30d', openers: [menu(['button', 'Download CSV'])] },
  { who: 'ann', path: '/logs?range=30d', openers: [dialog(['link', /:\d\d:/])] },
  { who: 'ann', path: '/models', openers: [dialog(['button', 'gpt-5'])] },
  {
    who: 'root',
    path: '/departments',
    openers: [
      dialog(['button', 'New department']),
      dialog(
        ['treeitem', /^Research/],
        dialog(['button', 'Edit']),
        dialog(['button', 'Add to budget']),
        menu(['button', 'More actions'], dialog(['menuitem', 'Delete'])),
      ),
    ],
  },
  {
    who: 'root',
    path: '/users',
    openers: [
      dialog(['button', 'New account']),
      dialog(
        ['button', 'bo'],
        menu(['button', 'More actions'], dialog(['menuitem', 'Delete account'])),
        dialog(['button', 'Change balance']),
        dialog(['button', 'Set new password']),
        dialog(['button', 'Assign a plan']),
      ),
    ],
  },
  { who: 'root', path: '/users?tab=invitations', openers: [dialog(['button', 'New invitation'])] },
  { who: 'root', path: '/payments', openers: [dialog(LATEST)] },
  { who: 'root', path: '/payments?tab=codes', openers: [dialog(['button', 'Create codes'])] },
  { who: 'root', path: '/audit', openers: [dialog(['button', /user 11\b/])] },
  { who: 'root', path: '/vendors', openers: [dialog(['button', /^openai-eu/])] },
  { who: 'root', path: '/config', openers: [dialog(['button', 'Add a vendor']), dialog(['button', 'openai-eu'])] },
  { who: 'root', path: '/config?section=aliases', openers: [dialog(['button', 'Add an alias'])] },
  { who: 'root', path: '/config?tab=secrets', openers: [dialog(['button', 'Add a secret'])] },
  { who: 'root', path: '/prices', openers: [dialog(['button', /^gpt-5-mini/]), dialog(['button', /^not-priced/])] },
];

describe('what opens above a page', () => {
  let world: World;
  let browser: Browser;
  let people: Record<'root' | 'ann', Onlooker>;
  before(async () => {
    world = await startWorld('normal', { port: await freePort(), env: await builtConsole() });
    browser = await startBrowser();
    people = {
      // One of them in the dark and in a narrow window: what opens is made of the same parts everywhere.
      root: await onlooker(browser, world.gateway, world.people.root, { scheme: 'dark', width: 360, height: 740 }),
      ann: await onlooker(browser, world.gateway, world.people.ann),
    };
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  for (const { who, path, openers } of PLACES) {
    it(`is opened and closed by keyboard on ${path} (${who})`, async () => {
      const at = people[who];
      await at.open(path);
      for (const opener of openers) await walk(at, opener, at.page.locator('body'), 0);
      assertClean(path, at.problems);
    });
  }

  it('leaves what is closed out of the way of the keyboard: the navigation of narrow windows', async () => {
    const at = await onlooker(browser, world.gateway, world.people.ann, { width: 360, height: 740 });
    const { page } = at;
    await at.open('/keys');
    const links = page.getByRole('navigation', { name: 'Navigation' }).getByRole('link');
    const burger = page.getByRole('button', { name: 'Open navigation' });
    await burger.waitFor();
    await becomes(() => links.count(), 0, 'it is closed');
    await press(page, burger);
    await links.first().waitFor();
    await links.first().focus();
    await page.keyboard.press('Escape');
    await focused(page, burger);
    await becomes(() => links.count(), 0, 'Escape closed it');
    await press(page, burger);
    await links.last().focus();
    await page.keyboard.press('Tab');
    await links.last().waitFor({ state: 'hidden' });
    await page.locator('main :focus').waitFor();
    await at.close();
  });

  it('keeps its button to close where a name is long and the window narrow', async () => {
    const name = 'W'.repeat(64);
    await world.people.root.data('POST', '/api/department/', { name });
    const at = await onlooker(browser, world.gateway, world.people.root, { width: 320, height: 640 });
    await at.open('/departments');
    await press(at.page, at.page.getByRole('treeitem', { name: new RegExp(name) }));
    const drawer = at.page.getByRole('dialog', { name });
    await eventually(async () => {
      const { x, width } = (await drawer.getByRole('button', { name: 'Close' }).boundingBox()) ?? { x: 320, width: 0 };
      assert.ok(x >= 0 && x + width <= 320, `it is at ${x}`);
    });
    assertClean('the drawer', await at.overflow());
    await at.close();
  });

  it('copies over plain http as well, says so, and leaves the focus where it was', async () => {
    const at = await onlooker(browser, world.gateway, world.people.ann);
    const { page } = at;
    await page.addInitScript('Object.defineProperty(globalThis, "isSecureContext", { value: false })');
    await at.open('/connect?client=claude-code');
    const button = page.getByRole('button', { name: 'Copy: Address' });
    await press(page, button);
    await page.getByText('Copied', { exact: true }).first().waitFor();
    await focused(page, button);
    await at.close();
  });
});

/** Opens, looks, goes on to what is inside, and closes. `dialogs`: so many are open. */
async function walk(
  at: Onlooker,
  { press: [role, name], opens, inside = [], closedBy }: Opener,
  within: Locator,
  dialogs: number,
) {
  const { page } = at;
  const button = within.getByRole(role, { name, exact: typeof name === 'string' }).first();
  const popup = opens === 'menu' ? page.getByRole('menu') : page.getByRole('dialog').nth(dialogs);
  const open = async (): Promise<void> => {
    await press(page, button);
    await popup.waitFor();
    await popup.locator(':focus').waitFor();
    await at.settled();
  };
  await open();
  assertClean(`${name} opens a ${opens}`, [...(await at.violations(popup)), ...(await at.overflow())]);
  if (opens === 'dialog') {
    await at.otherLanguage();
    assertClean(`${name} in Chinese`, [...(await at.overflow()), ...(await at.untranslated())]);
    await at.otherLanguage();
  }
  for (const next of inside) {
    if (opens === 'menu' && !(await popup.isVisible())) await open();
    // What an entry of a menu opened gives the focus back to the button of the menu.
    await walk(at, next, popup, opens === 'menu' ? dialogs : dialogs + 1);
    if (opens === 'menu') await focused(page, button);
  }
  if (opens === 'menu' && !(await popup.isVisible())) return;
  if (closedBy === undefined) await page.keyboard.press('Escape');
  else await press(page, popup.getByRole('button', { name: closedBy }));
  await popup.waitFor({ state: 'hidden' });
  if (role !== 'menuitem') await focused(page, button);
}

async function press(page: Page, what: Locator): Promise<void> {
  await what.focus();
  await page.keyboard.press('Enter');
}

/** Waits until it has the focus. */
function focused(page: Page, what: Locator): Promise<void> {
  return what.and(page.locator(':focus')).waitFor();
}
