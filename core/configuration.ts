/** gateway.yaml for plugins: the running configuration, the file on disk, and the check of a draft. */
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Plan, planOf, rehearse } from './assembly.ts';
import { reportOf } from './check.ts';
import { draftRules, refuseForeignFiles } from './config/drafts.ts';
import { ConfigError, type ConfigFile, draftConfig, readConfig } from './config/file.ts';
import { createMasks, type Masked } from './config/masks.ts';
import { editorSchema } from './config/schema.ts';
import type { Diagnosis } from './contracts/diagnosis.ts';
import type { Remark, Running, Verdict } from './contracts/running.ts';
import { createRedactor, type Redactor, SHORTEST_SECRET } from './log.ts';
import type { Plugin, Sections } from './plugin.ts';

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
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Plugins in addition to those of the file. */
  readonly plugins: readonly Plugin<Sections>[];
  loaded(): Loaded;
  /** Reports changes that need a restart. */
  refuseRestart(next: Plan): void;
  reload(): Promise<void>;
  /** The findings about the file on disk and this gateway; they may contain secrets. */
  examine(): Promise<readonly Diagnosis[]>;
}

/** Creates the configuration part of the service `Running`. */
export function createConfiguration(
  tools: ConfigurationTools,
): Pick<Running, 'configuration' | 'check' | 'schema' | 'reload' | 'examine'> {
  const { configFile, env, plugins } = tools;
  const name = basename(configFile);
  // Per process: masks of another process cannot be resolved here.
  const masks = createMasks(randomBytes(32));

  /** Masked files, each without the secrets of any of them; and the function that masks them in messages. */
  function maskedOf(files: readonly ConfigFile[]): { readonly masked: readonly Masked[]; readonly redactor: Redactor } {
    const parts = files.flatMap(({ text }) => masks(text).secrets);
    const wholes = files.flatMap(({ secrets }) => secrets);
    const redactor = createRedactor();
    for (const secret of [...parts, ...wholes]) redactor.hide(secret);
    // Of a URL with a password, the address may be shown.
    const isShown = (whole: string) => parts.some((part) => part.length >= SHORTEST_SECRET && whole.includes(part));
    const known = [...parts, ...wholes.filter((whole) => !isShown(whole))];
    return { masked: files.map(({ text }) => masks(text, known)), redactor };
  }

  /** The problems that keep the gateway from accepting the file, as remarks. */
  function problemsOf(error: unknown, { redact }: Redactor): readonly Remark[] {
    const problems =
      error instanceof ConfigError
        ? error.problems
        : [{ line: 1, column: 1, path: '', message: error instanceof Error ? error.message : String(error) }];
    return problems.map((problem) => ({ ...problem, path: redact(problem.path), message: redact(problem.message) }));
  }

  async function judge(file: ConfigFile, redactor: Redactor): Promise<Verdict> {
    const { redact } = redactor;
    const warnings = () => file.warnings.map((warning) => ({ ...warning, message: redact(warning.message) }));
    try {
      const plan = await planOf(file, plugins);
      tools.refuseRestart(plan);
      const report = reportOf(await rehearse(plan), name);
      return { problems: [], warnings: warnings(), report: redact(report).trimEnd().split('\n') };
    } catch (error) {
      return { problems: problemsOf(error, redactor), warnings: warnings(), report: [] };
    }
  }

  let examination: Promise<readonly Diagnosis[]> | undefined;

  async function examineNow(): Promise<readonly Diagnosis[]> {
    try {
      const found = await tools.examine();
      const { redactor } = maskedOf([readConfig(configFile, env), tools.loaded().plan.file]);
      const { redact } = redactor;
      return found.map(({ topic, level, text, advice }) => ({
        topic,
        level,
        text: redact(text),
        ...(advice !== undefined && { advice: redact(advice) }),
      }));
    } catch (error) {
      // The file cannot be read.
      return problemsOf(error, maskedOf([tools.loaded().plan.file]).redactor).map(({ message }) => ({
        topic: 'configuration',
        level: 'problem',
        text: message,
      }));
    }
  }

  return {
    examine() {
      examination ??= examineNow().finally(() => {
        examination = undefined;
      });
      return examination;
    },

    async configuration() {
      const { plan, number, loadedMs } = tools.loaded();
      const file = readConfig(configFile, env);
      const modifiedMs = await stat(configFile).then(
        ({ mtimeMs }) => Math.round(mtimeMs),
        () => undefined,
      );
      const { masked, redactor } = maskedOf([plan.file, file]);
      const [running, disk] = masked as [Masked, Masked];
      const { problems, warnings, report } = await judge(file, redactor);
      return {
        name,
        generation: number,
        running: { text: running.text, loadedMs },
        disk: { text: disk.text, changed: file.text !== plan.file.text, modifiedMs },
        verdict: { problems: problems.map(disk.place), warnings: warnings.map(disk.place), report },
      };
    },

    async check(text) {
      const { plan } = tools.loaded();
      const disk = readConfig(configFile, env);
      const files = [plan.file, disk];
      const { masked, redactor } = maskedOf(files);
      const rules = draftRules(files.map((file, i) => ({ text: file.text, masked: masked[i]!.text })));
      const draft = draftConfig(configFile, text, env, rules);
      for (const secret of draft.secrets) redactor.hide(secret);
      if (refuseForeignFiles(draft, files)) {
        const error = new ConfigError(draft.file, draft.problems);
        return { problems: problemsOf(error, redactor), warnings: [], report: [] };
      }
      return judge(draft, redactor);
    },

    schema: () => editorSchema(tools.loaded().plan.sections),

    async reload() {
      try {
        await tools.reload();
        return [];
      } catch (error) {
        const { masked, redactor } = maskedOf([readConfig(configFile, env), tools.loaded().plan.file]);
        return problemsOf(error, redactor).map(masked[0]!.place);
      }
    },
  };
}
