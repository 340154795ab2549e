/** Changes the configuration: checks a text, writes it, loads it, and records it as a version. Provides `Configuring`. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { planOf, rehearse, type Surroundings } from '../../assembly/assemble.ts';
import { ConfigError, type ConfigFile } from '../../config/file.ts';
import { type Actor, COMMAND_LINE } from '../../contracts/audit.ts';
import type { CheckedText, Configuring, CurrentText, Draft, Saved, SecretAbout } from '../../contracts/configuring.ts';
import type { Peers } from '../../contracts/peers.ts';
import type { Running, Verdict } from '../../contracts/running.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import { compare } from './diff.ts';
import { applyEdits, withLineEndsOf } from './edits.ts';
import { lostMask } from './masks.ts';
import { NotWritten } from './replace-file.ts';
import type { ConfigurationTools, Judge } from './review.ts';
import { type KeptConfig, type KeptVersion, revisionOf } from './versions.ts';

/** Told to the other processes on the store after a change of a secret or of the text in the database. */
export const CHANGED = 'core.configuration changed';

/** The dependencies. */
export interface ConfiguringTools extends ConfigurationTools {
  readonly kept: KeptConfig;
  readonly judge: Judge;
  readonly running: Pick<Running, 'check' | 'reload'>;
  /** Calls vendors for candidates. */
  readonly ask: Surroundings['ask'];
  readonly peers: Peers;
  readonly clock: Clock;
  readonly log: Log;
}

/** The service, and what the gateway tells it. */
export interface ConfiguringWatch {
  readonly service: Configuring;
  /** A text was loaded: records it if it was changed outside. */
  loaded(text: string): Promise<void>;
  /** Saves a text of the operator of the machine: it may name every variable and file, even if the editor is off. */
  replace(text: string, about: Pick<Draft, 'note' | 'actor' | 'steps'>): Promise<Saved>;
}

/** Creates it. */
export function createConfiguring(tools: ConfiguringTools): ConfiguringWatch {
  const { source, kept, judge, running, peers } = tools;
  /** The revision that is being saved: it is recorded with its author, not as a change from outside. */
  let saving: string | undefined;
  let changes: Promise<unknown> = Promise.resolve();

  /** One change after the other. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const done = changes.then(work);
    changes = done.catch(() => {});
    return done;
  }

  /** The operator of the machine may change it even if the editor is off. */
  async function reasonAgainst(actor?: Actor): Promise<CurrentText['reason']> {
    const { editor } = tools.loaded().plan.values.configuration as { readonly editor: boolean };
    if (!editor && actor !== COMMAND_LINE) return { code: 'off', message: '`configuration.editor` is false' };
    const obstacle = await source.obstacle();
    return obstacle === undefined ? undefined : { code: 'unwritable', message: obstacle };
  }

  /** The text of the operator of the machine: with the secrets of the current one in the place of masks. */
  const unmasked = (current: ConfigFile, text: string): string =>
    judge.maskedOf([tools.loaded().plan.file, current]).masked[1]!.unmask(text);

  /** What keeps the gateway from loading a text that may name everything. */
  async function verdictOn(text: string): Promise<Verdict> {
    const file = await source.as(text);
    await nextTurn();
    const { redactor } = judge.maskedOf([file]);
    await nextTurn();
    return judge.judge(file, redactor);
  }

  async function check(text: string, actor?: Actor): Promise<CheckedText> {
    // A long text takes some time at each of these steps: others have their turn between them.
    const current = await source.read();
    await nextTurn();
    const verdict = await (actor === COMMAND_LINE ? verdictOn(unmasked(current, text)) : running.check(text));
    await nextTurn();
    // A new secret is masked, too; masks of the text stand for secrets, and stay as they are.
    const full = judge.maskedOf([current]).masked[0]!.unmask(text);
    const shown = (draft: string) =>
      judge.maskedOf([current, { text: draft, secrets: [] }]).masked.map((each) => each.text) as [string, string];
    await nextTurn();
    const [now, then] = shown(full);
    await nextTurn();
    // A mask at a place that is not secret is left as it is.
    return {
      ...verdict,
      diff: compare(...(lostMask(text, then) === undefined ? ([now, then] as const) : shown(text))),
    };
  }

  /** Writes a text that was checked, loads it, and records it. */
  async function replace(current: ConfigFile, text: string, about: Omit<Draft, 'text' | 'revision'>): Promise<Saved> {
    const { note, actor, steps } = about;
    const version = { text, by: actor.name, note, steps };
    const revision = revisionOf(text);
    saving = revision;
    try {
      const written = await source.write(current.text, version);
      if (written === false) return conflict(await source.read());
      const problems = await running.reload();
      if (problems.length > 0) {
        try {
          const undone = await source.write(text, { text: current.text, by: actor.name, note: PUT_BACK });
          if (undone === false)
            tools.log.error('a configuration that does not load was changed before it was put back');
        } catch (error) {
          tools.log.error('a configuration that does not load could not be put back: the next start fails', { error });
        }
        return { outcome: 'wrong', problems };
      }
      const id = written === true ? await kept.add(version) : written;
      if (source.kind === 'store') peers.tell(CHANGED, null);
      return { outcome: 'saved', revision, version: id ?? 0, generation: tools.loaded().number };
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error;
      return { outcome: 'refused', reason: { code: 'unwritable', message: error.message } };
    } finally {
      saving = undefined;
    }
  }

  /** Why a text cannot be loaded; undefined: it can. It may name everything, because it was current once. */
  async function judged(text: string): Promise<Saved | undefined> {
    const { problems } = await verdictOn(text);
    return problems.length > 0 ? { outcome: 'wrong', problems } : undefined;
  }

  async function conflict(current: ConfigFile): Promise<Saved> {
    const revision = revisionOf(current.text);
    const newest = await kept.newest();
    const by = newest?.revision === revision ? aboutOf(newest) : undefined;
    return { outcome: 'conflict', revision, by };
  }

  /** `full`: the text to write, or why it cannot be accepted. */
  const change = (about: Omit<Draft, 'text'>, full: (current: ConfigFile) => Promise<string | Saved>): Promise<Saved> =>
    alone(async () => {
      const reason = await reasonAgainst(about.actor);
      if (reason !== undefined) return { outcome: 'refused', reason };
      const current = await source.read();
      if (revisionOf(current.text) !== about.revision) return conflict(current);
      const text = await full(current);
      return typeof text === 'string' ? replace(current, text, about) : text;
    });

  async function usedSecrets(): Promise<ReadonlyMap<string, readonly string[]>> {
    const places = new Map<string, string[]>();
    for (const { kind, name, path } of (await source.read()).references)
      if (kind === 'secret') places.set(name, [...(places.get(name) ?? []), path]);
    return places;
  }

  async function secrets(): Promise<readonly SecretAbout[]> {
    const used = await usedSecrets();
    return (await kept.listSecrets()).map((secret) => ({ ...secret, usedIn: used.get(secret.name) ?? [] }));
  }

  const service: Configuring = {
    secrets,
    async current() {
      const current = await source.read();
      const { masked } = judge.maskedOf([tools.loaded().plan.file, current]);
      const variables = current.references.filter(({ kind }) => kind === 'variable').map(({ name }) => name);
      return {
        source: source.kind,
        path: source.kind === 'file' ? source.name : undefined,
        reason: await reasonAgainst(),
        text: masked[1]!.text,
        revision: revisionOf(current.text),
        secrets: await secrets(),
        environment: [...new Set(variables)].sort(),
      };
    },

    async written() {
      const { text } = await source.read();
      return { source: source.kind, text, revision: revisionOf(text) };
    },
    check,
    edited: applyEdits,
    async edit(text, edits, actor) {
      const edited = applyEdits(text, edits);
      return { text: edited, ...(await check(edited, actor)) };
    },

    save: ({ text, ...about }) =>
      change(about, async (current) => {
        if (about.actor === COMMAND_LINE) {
          const full = withLineEndsOf(current.text, unmasked(current, text));
          return (await judged(full)) ?? full;
        }
        const { draft, isForeign, masked, redactor } = await judge.draftOf(text);
        if (isForeign || draft.problems.length > 0) {
          const error = new ConfigError(draft.file, draft.problems);
          return { outcome: 'wrong', problems: judge.problemsOf(error, redactor) };
        }
        const { problems } = await judge.judge(draft, redactor);
        return problems.length > 0 ? { outcome: 'wrong', problems } : withLineEndsOf(current.text, masked.unmask(text));
      }),

    versions: (of) => kept.versions(of),
    async version(id) {
      const version = await kept.version(id);
      if (version === undefined) return undefined;
      const { masked } = judge.maskedOf([await source.as(version.text), await source.read()]);
      const [text, current] = masked.map((each) => each.text) as [string, string];
      return { ...aboutOf(version), text, diff: compare(text, current) };
    },
    async restore(id, draft) {
      const version = await kept.version(id);
      if (version === undefined) return undefined;
      return change(draft, async () => {
        return (await judged(version.text)) ?? version.text;
      });
    },

    setSecret: (name, value, by, steps) =>
      alone(async () => {
        await kept.setSecret(name, value, by.name, steps);
        peers.tell(CHANGED, null);
        return (await usedSecrets()).has(name) ? running.reload() : [];
      }),
    deleteSecret: (name, steps) =>
      alone(async () => {
        const usedIn = (await usedSecrets()).get(name);
        if (usedIn !== undefined) return { outcome: 'used', usedIn };
        return { outcome: (await kept.deleteSecret(name, steps)) ? 'deleted' : 'unknown' };
      }),

    async candidate(text, work) {
      const { draft, isForeign, redactor } = await judge.draftOf(text);
      try {
        if (isForeign) throw new ConfigError(draft.file, draft.problems);
        const plan = await planOf(draft, tools.plugins);
        const { clock, ask } = tools;
        const assembly = await rehearse(plan, { clock, ask });
        return { result: await work({ find: (service) => assembly.find(service) }) };
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return { problems: judge.problemsOf(error, redactor) };
      }
    },
  };

  return {
    service,
    replace: (text, about) =>
      alone(async () => {
        const obstacle = await source.obstacle();
        if (obstacle !== undefined) return { outcome: 'refused', reason: { code: 'unwritable', message: obstacle } };
        const verdict = await judged(text);
        return verdict ?? replace(await source.read(), text, about);
      }),
    async loaded(text) {
      const revision = revisionOf(text);
      if (saving === revision) return;
      try {
        const newest = await kept.newestRevision();
        // In the database, every other text is a version already.
        const isNew = source.kind === 'store' ? newest === undefined : newest !== revision;
        if (isNew) await kept.add({ text, by: undefined, note: '' });
      } catch (error) {
        tools.log.warn('a version of the configuration could not be recorded', { error });
      }
    },
  };
}

/** The note of a version that was put back because its successor did not load. */
const PUT_BACK = 'put back: the version before did not load';

function aboutOf({ id, atMs, by, note, revision }: KeptVersion) {
  return { id, atMs, by, note, revision };
}
