/** Alerts: tells administrators, and owners who want it, about budgets that are nearly used, failing channels, prices, disk and backups. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Alerts, BUDGET_EMAILS } from '../../core/contracts/alerts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Mail } from '../../core/contracts/mail.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Records } from '../../core/contracts/records.ts';
import { Running } from '../../core/contracts/running.ts';
import { secondsOf } from '../../core/contracts/shown.ts';
import { Site } from '../../core/contracts/site.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { type Command, definePlugin, type Json } from '../../core/plugin.ts';
import { createChore, table } from '../../core/sdk.ts';
import { createBook } from './book.ts';
import { createBudgets, type Spent } from './budgets.ts';
import { createConditions } from './conditions.ts';
import { createDelivery, reasonOf, type Sender, within } from './delivery.ts';
import { isZone, quietTime } from './quiet.ts';
import { alertsSection } from './section.ts';
import { migrations } from './tables.ts';
import { type Sent, sendMail, targetsOf } from './targets.ts';

/** How often ended calls are looked at, and the outbox. */
const LOOK_MS = 5_000;
/** How often conditions of the gateway are looked at. */
const CONDITIONS_MS = 30_000;
const TIDY_MS = 3_600_000;
/** The most keys between two looks; calls of further ones are found with their next call. */
const MOST_KEYS = 50_000;

/** Tells the leading process which keys had calls settled in another process. */
const SPENT = 'alerts.spent';
/** The target of the email to the owner of an account. */
const OWNER = 'owner ';

/** Calls that have ended. `ripe`: those of the look before; their charges are written by now. */
interface Ended {
  keys: Map<number, number>;
  refused: Set<number>;
  ripe: Spent;
}

export default definePlugin({
  name: 'alerts',
  api: 2,
  sections: { alerts: alertsSection },
  migrations,
  wants: [...[Accounts, Keys, Ledger, Records, Departments, Subscriptions], ...[Catalog, Prices, Running, Mail, Site]],
  provides: [Alerts],
  create(host, { alerts: section }) {
    const { clock, peers } = host;
    if (!isZone(section.zone)) host.problem(['alerts', 'zone'], 'is not a time zone such as Europe/Berlin');
    const quiet = isZone(section.zone) ? quietTime(section.quiet, section.zone) : undefined;
    const targets = targetsOf(host, section.to);
    const book = createBook(host, targetNamesFor);
    const budgets = createBudgets(host, section);
    const failing = host.lasting<Map<string, number>>({ name: 'alerts.failing', version: 1, make: () => new Map() });
    const conditions = createConditions(host, section, book, failing);
    const delivery = createDelivery(host, book, senderOf);
    const ended = host.lasting<Ended>({
      name: 'alerts.ended',
      version: 1,
      make: () => ({ keys: new Map(), refused: new Set(), ripe: { keys: new Map(), refused: new Set() } }),
    });

    /** The address of an owner who wants email about budgets. */
    async function addressOf(accountId: number): Promise<string | undefined> {
      const person = await host.find(Accounts)?.person(accountId);
      if (person?.enabled !== true || person.settings[BUDGET_EMAILS] !== true) return undefined;
      const { notification_email: other } = person.settings;
      return typeof other === 'string' && other !== '' ? other : person.email;
    }

    async function targetNamesFor(accountId: number | undefined): Promise<readonly string[]> {
      const names = targets.map(({ name }) => name);
      if (accountId === undefined || (await addressOf(accountId)) === undefined) return names;
      return [...names, `${OWNER}${accountId}`];
    }

    async function senderOf(name: string): Promise<Sender | undefined> {
      if (!name.startsWith(OWNER)) return targets.find((target) => target.name === name)?.send;
      const address = await addressOf(Number(name.slice(OWNER.length)));
      return address === undefined ? undefined : (messages) => sendMail(host, address, messages);
    }

    function add(keyId: number, accountId: number, isRefused: boolean): void {
      if (ended.keys.size >= MOST_KEYS && !ended.keys.has(keyId)) return;
      ended.keys.set(keyId, accountId);
      if (isRefused) ended.refused.add(keyId);
    }

    /** The calls that have ended since the last look. */
    function take(): Spent {
      const { keys, refused } = ended;
      ended.keys = new Map();
      ended.refused = new Set();
      return { keys, refused };
    }

    const looks = createChore(host, {
      everyMs: LOOK_MS,
      everywhere: true,
      async work(goesOn) {
        const latest = take();
        if (!peers.leads()) {
          const message = [...latest.keys].map(([key, account]) => [key, account, latest.refused.has(key)]);
          if (message.length > 0) (peers.owner ?? peers).tell(SPENT, message as Json);
          return;
        }
        const { ripe } = ended;
        ended.ripe = latest;
        if (ripe.keys.size > 0) {
          for await (const finding of budgets.look(ripe)) {
            if (!goesOn()) return;
            await book.note(finding);
          }
        }
        if (quiet?.(clock.now()) !== true) await delivery.run();
      },
      failure: 'budgets could not be checked, or the outbox of alerts not be read',
    });
    const conditionLooks = createChore(host, {
      everyMs: CONDITIONS_MS,
      async work(goesOn) {
        for await (const finding of conditions.look()) {
          if (!goesOn()) return;
          await book.note(finding);
        }
      },
      failure: 'the conditions of alerts could not be checked',
    });
    const tidying = createChore(host, {
      everyMs: TIDY_MS,
      work: () => book.tidy(),
      failure: 'old alerts could not be deleted',
    });
    const chores = [looks, conditionLooks, tidying];

    async function testOf({ name, send }: (typeof targets)[number], message: Sent) {
      try {
        const signal = AbortSignal.timeout(TEST_MS);
        await within(signal, send([message], signal));
        return { target: name, problem: undefined };
      } catch (error) {
        return { target: name, problem: error instanceof Error ? reasonOf(error) : String(error) };
      }
    }

    const alerts: Alerts = {
      open: book.open,
      async history(limit) {
        const events = await book.history(limit);
        return events.map((event) => ({
          ...event,
          // The console shows neither who the owner is, nor needs to.
          deliveries: event.deliveries.map((each) =>
            each.target.startsWith(OWNER) ? { ...each, target: OWNER.trim() } : each,
          ),
        }));
      },
      async targets() {
        const [waiting, sent] = await Promise.all([book.waiting(), book.lastSent()]);
        return targets.map(({ name, type }) => ({
          name,
          type,
          waiting: waiting.get(name) ?? 0,
          sentMs: sent.get(name),
          problem: delivery.problemOf(name),
        }));
      },
      quiet: () => quiet && { time: `${section.quiet} ${section.zone}`, isNow: quiet(clock.now()) },
      test() {
        const common = { id: 'test', kind: 'budget', subject: 'test', level: 0, isOver: false } as const;
        const text = 'This is a test of the alerts of this gateway. Nothing has to be done.';
        const message = { ...common, atMs: clock.now(), title: 'Test', text };
        return Promise.all(targets.map((target) => testOf(target, message)));
      },
    };
    host.provide(Alerts, alerts);

    return {
      settle({ identity, outcome, status }) {
        if (identity !== undefined) add(identity.key.id, identity.account.id, outcome === 'refused' && status === 403);
        return undefined;
      },
      commands: commandsOf(alerts),
      report() {
        const to =
          targets.length === 0 ? 'shown in the console only' : `sent to ${targets.map(({ name }) => name).join(', ')}`;
        const withoutServer = targets.some(({ type }) => type === 'mail') && host.find(Mail)?.delivers !== true;
        return [
          `alerts are ${to}${section.quiet === '' ? '' : `, except from ${section.quiet} ${section.zone}`}`,
          ...(withoutServer
            ? ['warning: alerts.to has an email address, but mail.smtp is not set: nothing is sent there']
            : []),
        ];
      },
      start() {
        peers.on(SPENT, (message) => {
          for (const [key, account, isRefused] of message as unknown as readonly (readonly [number, number, boolean])[])
            add(key, account, isRefused);
          return undefined;
        });
        for (const chore of chores) chore.start();
      },
      async stop() {
        await Promise.all(chores.map((chore) => chore.stop()));
        await delivery.stop();
      },
    };
  },
});

/** How long a target has in a test. */
const TEST_MS = 10_000;

function commandsOf(alerts: Alerts): readonly Command[] {
  return [
    {
      name: 'alerts list',
      summary: 'lists the alerts that are open',
      async run() {
        const open = await alerts.open();
        const json = open.map(({ sinceMs, kind, level, title }) => ({
          kind,
          level,
          title,
          since: secondsOf(sinceMs),
        }));
        if (open.length === 0) return { text: 'no alert is open', json };
        const text = table([
          ['SINCE', 'KIND', 'LEVEL', 'ALERT'],
          ...open.map(({ sinceMs, kind, level, title }) => [
            new Date(sinceMs).toISOString(),
            kind,
            kind === 'budget' ? `${level} %` : '',
            title,
          ]),
        ]);
        return { text, json };
      },
    },
    {
      name: 'alerts test',
      summary: 'sends a test message to every target',
      async run() {
        const results = await alerts.test();
        const text = results.map(({ target, problem }) => `${target}: ${problem ?? 'accepted'}`).join('\n');
        const json = results.map(({ target, problem }) => ({ target, problem: problem ?? '' }));
        return { text: text || 'no target is configured (alerts.to)', json };
      },
    },
  ];
}
