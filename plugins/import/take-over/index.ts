/**
 * Writes what was found into the store. Everything is planned first, with all checks, and nothing is written if that fails; a dry run ends there.
 * Then the same is planned again and written in lists. An import that was interrupted goes on where it stopped.
 */
import type { Host, JsonObject } from '../../../core/plugin.ts';
import type { Inventory, Source } from '../inventory.ts';
import type { Planned, Taken } from '../planned.ts';
import { compareGone } from './changes.ts';
import { takeDepartments } from './departments.ts';
import { planDays, planHoldings } from './holdings.ts';
import { takeKeys } from './keys.ts';
import { handOutLinks } from './links.ts';
import { writeInLists } from './lists.ts';
import { beginRun, type Run, type TakeoverOptions } from './run.ts';
import { NO_DIFFERENCE, summaryLine, type Takeover } from './summary.ts';
import { sumsOf } from './sums.ts';
import { takeUsers } from './users.ts';

export type { Handout, Taken } from '../planned.ts';
export type { Change, TakeoverOptions } from './run.ts';

type Found = Pick<Inventory, 'departments' | 'users' | 'keys' | 'codes' | 'subscriptions' | 'orders'>;

/** Takes everything over. `history`: a source whose usage by day is to be added. */
export async function takeOver(
  host: Host,
  inventory: Found,
  options: TakeoverOptions & { readonly history?: Pick<Source, 'history' | 'family'> | undefined },
): Promise<Takeover> {
  // What cannot be taken over ends the import before its first write.
  const planned = await run(host, inventory, {
    ...options,
    isDry: true,
    isRehearsal: !options.isDry,
    handOut: () => {},
  });
  return options.isDry ? planned : run(host, inventory, options);
}

async function run(
  host: Host,
  inventory: Found,
  { history, ...options }: TakeoverOptions & { readonly history?: Pick<Source, 'history' | 'family'> | undefined },
): Promise<Takeover> {
  const of = await beginRun(host, options);
  try {
    return await write(of, host, inventory, { history, ...options });
  } catch (error) {
    throw of.isDry ? error : saying(error, { ...of, left: [] });
  }
}

/** Adds to the message of an error what was written before it: the next import does not tell that again. */
export function saying(error: unknown, takeover: Parameters<typeof summaryLine>[0]): unknown {
  const line = summaryLine(takeover);
  if (error instanceof Error && line !== NO_DIFFERENCE) error.message += `; before that: ${line}`;
  return error;
}

async function write(
  of: Run,
  host: Host,
  inventory: Found,
  { history, ...options }: TakeoverOptions & { readonly history?: Pick<Source, 'history' | 'family'> | undefined },
): Promise<Takeover> {
  const users = new Map(inventory.users.map((user) => [user.id, user]));
  refuseOther(of, users);
  await takeDepartments(of, inventory.departments);
  const strangers = await takeUsers(of, inventory.users);
  await takeKeys(of, inventory.keys, users, strangers);
  // A file of LiteLLM has neither.
  if (users.size > 0) {
    await compareGone(of, 'key', inventory.keys);
    await compareGone(of, 'user', inventory.users);
  }
  const accountOf = (user: string): number | undefined =>
    strangers.has(user) ? undefined : of.imports.find('user', user)?.ownId;
  const holdings = await planHoldings(host, inventory, accountOf, {
    family: options.family as Source['family'],
    program: options.kind,
    seenOf: (kind, id) => of.imports.find(kind, id)?.seen,
  });
  of.notes.push(...holdings.notes);
  if (of.isRehearsal !== true)
    for (const { kind, from, to } of holdings.unchanged)
      of.taken.push({ kind: kind as Taken['kind'], from, to, state: 'unchanged' });
  await writeInLists(of, holdings.planned, async (each) => writable(of, each));
  if (history !== undefined && !of.isDry) {
    const keyOf = (key: string): number | undefined => of.imports.find('key', key)?.ownId;
    const seenOf = (date: string): JsonObject | undefined => of.imports.find('day', date)?.seen;
    // A day has a step for each user, key and model, so it is a list.
    await writeInLists(of, planDays(host, history, accountOf, keyOf, seenOf), async (day) => day, 1);
  }
  await handOutLinks(of, inventory.users);
  return {
    taken: of.taken,
    changed: of.changed,
    left: of.notes,
    handouts: of.handouts,
    ...(await sumsOf(of, inventory, strangers)),
    days: of.days,
  };
}

/** A thing that is new or, with `--update`, has changed there; otherwise that is told. */
function writable(run: Run, planned: Planned): Planned | undefined {
  const { kind, id, from, to } = planned;
  if (run.update === true || run.imports.find(kind, id) === undefined) return planned;
  if (run.isRehearsal !== true)
    run.taken.push({ kind: kind as Taken['kind'], from, to, state: 'changed', changes: [to] });
  return undefined;
}

/** Refuses to update from a database that lacks most of what was imported: it is probably another one. */
function refuseOther({ imports, update }: Run, users: ReadonlyMap<string, unknown>): void {
  const known = [...imports.ids('user')];
  const gone = known.filter((id) => !users.has(id) && imports.find('user', id)?.seen?.deleted !== true);
  if (update !== true || users.size === 0 || gone.length <= Math.max(1, known.length / 2)) return;
  throw new Error(
    `${gone.length} of the ${known.length} users that were imported are not in this database: it is probably another one, so nothing was changed`,
  );
}
