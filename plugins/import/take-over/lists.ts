/** Writes planned things in lists of several, each with the rows that remember them: an import that was interrupted goes on where it stopped. */
import type { Step } from '../../../core/plugin.ts';
import type { Planned, Taken } from '../planned.ts';
import type { Imports } from '../tables.ts';
import { nextTurn } from '../unhurried.ts';
import { leftThing, type Run } from './run.ts';

/**
 * Things in one list: enough that commits do not count, few enough that calls of the gateway do not wait for them. What is made of them lives until they
 * are written: if that were more, the heap would take it for lasting, and grow with it.
 */
const THINGS = 50;
/** How often a list is planned again because another request has changed something, before its things are written one by one. */
const TRIES = 3;

/**
 * Plans and writes things. `plan`: undefined if there is nothing to write; called again if the list failed. In a dry run, nothing is written, and
 * what was planned counts as written. What was imported before is planned if it changed there. `most`: things in one list.
 */
export async function writeInLists<T>(
  run: Run,
  things: Iterable<T> | AsyncIterable<T>,
  plan: (thing: T) => Promise<Planned | undefined>,
  most = THINGS,
): Promise<void> {
  let list: T[] = [];
  for await (const thing of things) {
    list.push(thing);
    if (list.length < most) continue;
    await writeList(run, list, plan);
    list = [];
    // A gateway that imports goes on serving calls.
    await nextTurn();
  }
  await writeList(run, list, plan);
}

async function writeList<T>(
  run: Run,
  things: readonly T[],
  plan: (thing: T) => Promise<Planned | undefined>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const noted = run.notes.length;
    const planned: Planned[] = [];
    for (const thing of things) {
      const each = await plan(thing);
      if (each !== undefined) planned.push(each);
    }
    if (planned.length === 0) return;
    const failed = run.isDry ? undefined : await write(run, planned);
    if (failed === undefined) return remember(run, planned);
    run.notes.length = noted;
    await run.refresh();
    if (tries < TRIES) continue;
    if (things.length > 1) {
      for (const thing of things) await writeList(run, [thing], plan);
      return;
    }
    const [{ kind, name } = { kind: 'thing', name: '' }] = planned;
    run.notes.push(leftThing(`${kind} ${name}`, `it could not be written (${failed}): import again`));
    return;
  }
}

/** The `must` that failed; undefined: everything is written. */
async function write(run: Run, planned: readonly Planned[]): Promise<string | undefined> {
  const { host, imports, handOut } = run;
  // Before the list: what is handed out and then not written is worth nothing, but what is written and not handed out is lost.
  for (const { handout } of planned) if (handout !== undefined) handOut(handout);
  const steps = planned.flatMap((each) => [rowStep(imports, each), ...each.steps]);
  const failed = await host.store.atomic(steps);
  if (failed === undefined) await run.written();
  return failed;
}

function rowStep(imports: Imports, planned: Planned): Step {
  const before = imports.find(planned.kind, planned.id);
  if (before === undefined) return imports.step(planned.kind, planned.id, planned);
  return imports.changeStep(planned.kind, planned.id, before, planned);
}

function remember(run: Run, planned: readonly Planned[]): void {
  const { imports, taken, notes, handouts } = run;
  for (const each of planned) {
    const { kind, id, name, ownId, notes: more = [], handout } = each;
    const before = imports.find(kind, id);
    // Without what was seen of it: in this run, it is not compared.
    imports.note(kind, id, { name, ownId, ...(before && { revision: (before.revision ?? 0) + 1 }) });
    if (kind === 'day') run.days++;
    if (run.isRehearsal === true) continue;
    notes.push(...more);
    if (kind === 'day') continue;
    if (handout !== undefined) {
      const { secret: _, ...others } = handout;
      handouts.push(others);
    }
    taken.push(before === undefined ? takenOf(each) : { ...takenOf(each), state: 'changed', updated: true });
  }
}

function takenOf(planned: Planned): Taken {
  const { kind, from, to } = planned;
  return { kind: (kind === 'user' ? 'account' : kind) as Taken['kind'], from, to, state: 'new' };
}
