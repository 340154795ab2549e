/** gateway.yaml for plugins: the running configuration, the file on disk, and the check of a draft. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Plan, planOf, rehearse } from '../../assembly/assemble.ts';
import { reportOf } from '../../assembly/report.ts';
import { ConfigError, type ConfigFile } from '../../config/file.ts';
import { parseYaml } from '../../config/yaml.ts';
import type { Diagnosis } from '../../contracts/diagnosis.ts';
import type { Vault } from '../../contracts/host.ts';
import type { Remark, Running, Verdict } from '../../contracts/running.ts';
import type { Plugin, Sections } from '../../plugin.ts';
import { createRedactor, type Redactor } from '../../runtime/logger.ts';
import { SHORTEST_SECRET } from '../../runtime/secrets.ts';
import type { ConfigSource } from './config-source.ts';
import { draftRules, refuseForeignFiles } from './drafts.ts';
import { editorSchema } from './editor-schema.ts';
import { createMasks, lostMask, type Masked } from './masks.ts';

/** The running configuration. */
export interface Loaded {
  readonly plan: Plan;
  /** Starts at 1. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly loadedMs: number;
}

/** The dependencies for assembling it. */
export interface ConfigurationTools {
  readonly source: ConfigSource;
  /** Plugins in addition to those of the file. */
  readonly plugins: readonly Plugin<Sections>[];
  loaded(): Loaded;
  /** Reports changes that need a restart. */
  refuseRestart(next: Plan): void;
  reload(): Promise<void>;
}

/** Masks and checks texts; secrets never leave it. */
export interface Judge {
  /** Masked files, each without the secrets of any of them; and the function that masks them in messages. */
  maskedOf(files: readonly Pick<ConfigFile, 'text' | 'secrets'>[]): {
    readonly masked: readonly Masked[];
    readonly redactor: Redactor;
  };
  /** The problems that keep the gateway from accepting a file, as remarks. */
  problemsOf(error: unknown, redactor: Redactor): readonly Remark[];
  judge(file: ConfigFile, redactor: Redactor): Promise<Verdict>;
  /** A draft with masks, read as if it were the current text, and what it must not contain. */
  draftOf(text: string): Promise<{
    /** Secrets are in the place of masks. */
    readonly draft: ConfigFile;
    /** It names files that the current text does not name. */
    readonly isForeign: boolean;
    readonly current: ConfigFile;
    /** The current text. */
    readonly masked: Masked;
    readonly redactor: Redactor;
  }>;
}

/** Creates it. */
export function createJudge(tools: ConfigurationTools, vault: Vault): Judge {
  const { source, plugins } = tools;
  // The same in every gateway on the store: what one has shown can be saved at another.
  const masks = createMasks(vault.derive('masks of the configuration'));

  const judge: Judge = {
    maskedOf(files) {
      const parts = files.flatMap(({ text }) => masks(text).secrets);
      const wholes = files.flatMap(({ secrets }) => secrets);
      const redactor = createRedactor();
      for (const secret of [...parts, ...wholes]) redactor.hide(secret);
      // Of a URL with a password, the address may be shown.
      const isShown = (whole: string) => parts.some((part) => part.length >= SHORTEST_SECRET && whole.includes(part));
      const known = [...parts, ...wholes.filter((whole) => !isShown(whole))];
      return { masked: files.map(({ text }) => masks(text, known)), redactor };
    },

    problemsOf(error, { redact }) {
      const problems =
        error instanceof ConfigError
          ? error.problems
          : [{ line: 1, column: 1, path: '', message: error instanceof Error ? error.message : String(error) }];
      return problems.map((problem) => ({ ...problem, path: redact(problem.path), message: redact(problem.message) }));
    },

    async judge(file, redactor) {
      const { redact } = redactor;
      const warnings = () => file.warnings.map((warning) => ({ ...warning, message: redact(warning.message) }));
      try {
        const plan = await planOf(file, plugins);
        tools.refuseRestart(plan);
        // A long text takes some time at each of these steps: others have their turn between them.
        await nextTurn();
        const assembly = await rehearse(plan);
        await nextTurn();
        const report = reportOf(assembly, source.name);
        return { problems: [], warnings: warnings(), report: redact(report).trimEnd().split('\n') };
      } catch (error) {
        return { problems: judge.problemsOf(error, redactor), warnings: warnings(), report: [] };
      }
    },

    async draftOf(text) {
      const current = await source.read();
      const files = [tools.loaded().plan.file, current];
      const { masked, redactor } = judge.maskedOf(files);
      const shown = files.map((file, i) => ({ text: file.text, masked: masked[i]!.text }));
      const rules = draftRules(shown, (await source.origin()).secrets);
      await nextTurn();
      const draft = await source.as(text, rules);
      await nextTurn();
      for (const secret of draft.secrets) redactor.hide(secret);
      const again = judge.maskedOf([{ text: masked[1]!.unmask(text), secrets: draft.secrets }]).masked[0]!;
      const lost = lostMask(text, again.text);
      if (lost !== undefined) {
        const message = 'this mask would show its secret here: remove it, or write the text that shall be here';
        draft.problems.push({ ...parseYaml(text).position(text.indexOf(lost)), path: '', message });
      }
      return { draft, isForeign: refuseForeignFiles(draft, files), current, masked: masked[1]!, redactor };
    },
  };
  return judge;
}

/** Creates the configuration part of the service `Running`. */
export function createConfiguration(
  tools: ConfigurationTools,
  { maskedOf, problemsOf, judge, draftOf }: Judge,
): Pick<Running, 'configuration' | 'check' | 'schema' | 'reload'> {
  const { source } = tools;
  return {
    async configuration() {
      const { plan, number, loadedMs } = tools.loaded();
      const file = await source.read();
      const modifiedMs = await source.changedMs();
      const { masked, redactor } = maskedOf([plan.file, file]);
      const [running, disk] = masked as [Masked, Masked];
      const { problems, warnings, report } = await judge(file, redactor);
      return {
        name: source.name,
        generation: number,
        running: { text: running.text, loadedMs },
        disk: { text: disk.text, changed: file.text !== plan.file.text, modifiedMs },
        verdict: { problems: problems.map(disk.place), warnings: warnings.map(disk.place), report },
      };
    },

    async check(text) {
      const { draft, isForeign, redactor } = await draftOf(text);
      if (!isForeign) return judge(draft, redactor);
      const error = new ConfigError(draft.file, draft.problems);
      return { problems: problemsOf(error, redactor), warnings: [], report: [] };
    },

    schema: () => editorSchema(tools.loaded().plan.sections),

    async reload() {
      try {
        await tools.reload();
        return [];
      } catch (error) {
        const { masked, redactor } = maskedOf([await source.read(), tools.loaded().plan.file]);
        return problemsOf(error, redactor).map(masked[0]!.place);
      }
    },
  };
}

/**
 * Creates `Running.examine`; requests at the same time share one examination. `examine`: the findings about the current text and this gateway, which
 * may contain secrets.
 */
export function createExamination(
  { source, loaded }: Pick<ConfigurationTools, 'source' | 'loaded'>,
  { maskedOf, problemsOf }: Judge,
  examine: () => Promise<readonly Diagnosis[]>,
): Running['examine'] {
  let examination: Promise<readonly Diagnosis[]> | undefined;

  async function examineNow(): Promise<readonly Diagnosis[]> {
    try {
      const found = await examine();
      const { redact } = maskedOf([await source.read(), loaded().plan.file]).redactor;
      return found.map(({ topic, level, text, advice }) => ({
        topic,
        level,
        text: redact(text),
        ...(advice !== undefined && { advice: redact(advice) }),
      }));
    } catch (error) {
      // The configuration cannot be read.
      return problemsOf(error, maskedOf([loaded().plan.file]).redactor).map(({ message }) => ({
        topic: 'configuration',
        level: 'problem',
        text: message,
      }));
    }
  }

  return () => {
    examination ??= examineNow().finally(() => {
      examination = undefined;
    });
    return examination;
  };
}
