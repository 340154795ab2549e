/** One import, for the command and for the console: plans, checks, takes over, writes, and reports. */

import { accessSync, appendFileSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import type { Actor } from '../../core/contracts/audit.ts';
import { Prices } from '../../core/contracts/prices.ts';
import type { Host } from '../../core/plugin.ts';
import { applyInventory, planConfiguration } from './apply.ts';
import { checked } from './checked.ts';
import { claimImport } from './claim.ts';
import { writeFiles } from './gateway-file.ts';
import type { Note, Source } from './inventory.ts';
import { differencesOf } from './list-prices.ts';
import { prove } from './prove.ts';
import { type Report, reportOf } from './report.ts';
import { type Handout, saying, takeOver } from './take-over/index.ts';
import type { Takeover } from './take-over/summary.ts';

/** What to import, and how. */
export interface ImportOptions {
  readonly source: Source;
  /** The file or database, without a password. */
  readonly about: string;
  readonly actor: Actor;
  /** Only find out what would be done. */
  readonly isDry: boolean;
  /** Writes the imported sections into the configuration. */
  readonly apply: boolean;
  /** Takes over what has changed there since the last import. */
  readonly update: boolean;
  /** Computes recorded calls again with the imported prices. */
  readonly prove?: boolean;
  /** Adds the usage of each day to the records of this gateway. */
  readonly history?: boolean;
  /** Makes links for a new password again, for everyone who never signed in. */
  readonly links?: boolean;
  /** Where files are written; undefined: none are. */
  readonly folder?: string | undefined;
  /** Keeps a secret for its user; default: a file in `folder`. */
  handOut?(handout: Handout): void;
  /** Tells which part has begun. */
  progress?(step: ImportStep): void;
}

/** The parts of an import. */
export type ImportStep = 'reading' | 'checking' | 'writing' | 'configuring';

/** What an import has done. */
export interface Imported {
  readonly report: Report;
  readonly takeover: Takeover;
}

/**
 * Imports. The source is closed. Throws `UnusableConfiguration` before anything is written. Refuses (409 `import_running`) if another one runs, unless
 * it is a dry run.
 */
export async function runImport(host: Host, options: ImportOptions): Promise<Imported> {
  const { source, about, actor, isDry, apply, update, links, folder, progress = () => {} } = options;
  const { program, version, family } = source;
  let release: (() => Promise<void>) | undefined;
  let takeover: Takeover | undefined;
  try {
    if (!isDry) release = await claimImport(host);
    progress('reading');
    const found = await checked(await source.inventory());
    const isOfUsage = ({ where }: Note): boolean =>
      ['logs', 'quota_data', 'statistics', 'users.used_quota'].includes(where);
    // With `--history`, what these tables have is taken over as sums.
    const read = options.history === true ? { ...found, notes: found.notes.filter((note) => !isOfUsage(note)) } : found;
    progress('checking');
    const merging = { program, family, update, actor };
    const plan = await planConfiguration(host, read, merging);
    const { inventory } = plan;
    // With the names that groups have there, as recorded calls have them.
    const proof = options.prove === true ? await prove(host, plan.given, source) : undefined;
    // What is handed out cannot be shown again, so the import does not begin if it could not be written.
    if (!isDry && folder !== undefined) accessSync(folder, constants.W_OK);
    const handouts = resolve(folder ?? '.', `${program}.handouts.${host.clock.now()}.tsv`);
    const handOut =
      options.handOut ??
      (({ account, email = '', what, secret }) =>
        appendFileSync(handouts, `${[account, email, what, secret].join('\t')}\n`, { mode: 0o600 }));
    progress('writing');
    takeover = await takeOver(host, inventory, {
      ...{ kind: program, family, actor, isDry, update, links, handOut },
      history: options.history === true ? source : undefined,
    });
    const written: string[] = [];
    if (folder !== undefined && !apply) written.push(...writeFiles({ folder, program, inventory, isDry }));
    if (folder !== undefined && takeover.handouts.length > 0 && !isDry) written.push(`${handouts}: written`);
    const prices = host.find(Prices);
    const differences = prices ? differencesOf(inventory, prices) : [];
    // Last, because it reloads the gateway.
    progress('configuring');
    const applied = apply && !isDry ? await applyInventory(host, plan.given, merging) : undefined;
    const report = reportOf({
      program,
      version,
      source: about,
      atMs: host.clock.now(),
      isDry,
      inventory,
      taken: takeover.taken,
      left: [...takeover.left, ...plan.notes],
      handouts: takeover.handouts.map(({ account, what }) => ({ account, what })),
      sums: takeover.sums,
      gaps: takeover.gaps,
      days: takeover.days,
      proof,
      configuration: (applied ?? plan).changes,
      applied,
      written,
      differences,
    });
    return { report, takeover };
  } catch (error) {
    throw takeover === undefined || isDry ? error : saying(error, takeover);
  } finally {
    await release?.();
    await source.close();
  }
}
