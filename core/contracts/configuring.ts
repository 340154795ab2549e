/** The configuration as a document that is changed: text, secrets and versions. Provided by core. */

import type { Actor } from './audit.ts';
import type { Service } from './definitions.ts';
import { service } from './definitions.ts';
import type { Json } from './formats/json.ts';
import type { Remark, Verdict } from './running.ts';
import type { Step } from './store.ts';

/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  /** Without its line break; secrets are masked. */
  readonly text: string;
  /** Its line number in the old text, from 1; undefined if it was added. */
  readonly old: number | undefined;
  /** Its line number in the new text, from 1; undefined if it was removed. */
  readonly new: number | undefined;
}

/** Adjacent changes with up to three unchanged lines around them. */
export interface DiffHunk {
  readonly lines: readonly DiffLine[];
}

/** A secret of the store, `${secret:NAME}` in the text. Its value is never shown. */
export interface SecretAbout {
  readonly name: string;
  /** Unix milliseconds. */
  readonly setMs: number;
  /** The name of the user. */
  readonly setBy: string;
  /** The places of the current text that refer to it: `channels[0].key`. */
  readonly usedIn: readonly string[];
}

/** The current configuration, masked. */
export interface CurrentText {
  /** `store`: the text is in the database (`config: store`); otherwise in gateway.yaml. */
  readonly source: 'file' | 'store';
  /** The name of the file without its folder; undefined if the text is in the database. */
  readonly path: string | undefined;
  /** Why it cannot be changed here; undefined: it can. */
  readonly reason: { readonly code: 'off' | 'unwritable'; readonly message: string } | undefined;
  /** Masked like `Running.configuration`. */
  readonly text: string;
  /** Identifies the unmasked text. */
  readonly revision: string;
  readonly secrets: readonly SecretAbout[];
  /** The variables that the text refers to: a changed text may refer to the same ones. */
  readonly environment: readonly string[];
}

/** A change of a value: sets it, or removes it. Missing maps above it are created. */
export interface TextEdit {
  /** Names of members and positions in lists: `['channels', 0, 'key']`. The position behind the last item appends. */
  readonly path: readonly (string | number)[];
  /** The new value; required unless `remove` or `rename`. */
  readonly value?: Json | undefined;
  readonly remove?: true | undefined;
  /** A new name for the member; its value and its place stay. */
  readonly rename?: string | undefined;
}

/** A text after a check: it can be saved if it has no problems. Positions are those of the given text. */
export interface CheckedText extends Verdict {
  /** Against the current text. */
  readonly diff: readonly DiffHunk[];
}

/** Who saved something, when, and why. */
export interface VersionAbout {
  /** From 1, without gaps. */
  readonly id: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  /** The name of the user; undefined: it was changed outside, by hand or by another program. */
  readonly by: string | undefined;
  /** Empty if there is none. */
  readonly note: string;
  readonly revision: string;
}

/** A saved version with its text. */
export interface Version extends VersionAbout {
  /** Masked. */
  readonly text: string;
  /** From this version to the current text. */
  readonly diff: readonly DiffHunk[];
}

/** A text to save. */
export interface Draft {
  /** Masks stand for the secrets of the current text at their places. */
  readonly text: string;
  /** The revision that it was made from. */
  readonly revision: string;
  readonly note: string;
  readonly actor: Actor;
  /** What is written together with the version, such as an audit entry; `id`: of the version. */
  steps(id: number): readonly Step[];
}

/** The result of saving. Only `saved` has changed anything. */
export type Saved =
  | { readonly outcome: 'saved'; readonly revision: string; readonly version: number; readonly generation: number }
  /** It was changed since `revision`; `by`: the last version, if it is known. */
  | { readonly outcome: 'conflict'; readonly revision: string; readonly by: VersionAbout | undefined }
  /** It does not load. */
  | { readonly outcome: 'wrong'; readonly problems: readonly Remark[] }
  | { readonly outcome: 'refused'; readonly reason: NonNullable<CurrentText['reason']> };

/** The services of a configuration that is not running. */
export interface Candidate {
  /** A service of its plugins; undefined if none provides it. */
  find<T>(service: Service<T>): T | undefined;
}

/** Reads, checks and changes the configuration. Available once the gateway serves. */
export interface Configuring {
  current(): Promise<CurrentText>;
  /** The current text with its secrets, for code that changes parts of it: `current` masks names that look like secrets, too. It must not be shown. */
  written(): Promise<Pick<CurrentText, 'source' | 'text' | 'revision'>>;
  /**
   * Nothing is written. A text may refer only to the variables and files that the current text refers to; one of `COMMAND_LINE`, the operator of the
   * machine, to all.
   */
  check(text: string, actor?: Actor): Promise<CheckedText>;
  /** Applies edits to a text, comments and order kept, without a check. Throws a `RangeError` that names a path that cannot be changed. */
  edited(text: string, edits: readonly TextEdit[]): string;
  /**
   * Applies edits to a text, comments and order kept, and checks it. Nothing is written. Throws a `RangeError` that names a path that
   * cannot be changed.
   */
  edit(text: string, edits: readonly TextEdit[], actor?: Actor): Promise<CheckedText & { readonly text: string }>;
  /**
   * Checks, writes, loads and records a text. If it cannot be loaded, the old one is put back. If `configuration.editor` is false, only `COMMAND_LINE`
   * may.
   */
  save(draft: Draft): Promise<Saved>;
  /** Newest first. */
  versions(of: { readonly offset: number; readonly limit: number }): Promise<{
    readonly total: number;
    readonly items: readonly VersionAbout[];
  }>;
  version(id: number): Promise<Version | undefined>;
  /** The secrets of the database, in order of their names. */
  secrets(): Promise<readonly SecretAbout[]>;
  /** Saves the text of a version again. Undefined: there is no such version. */
  restore(id: number, draft: Omit<Draft, 'text'>): Promise<Saved | undefined>;
  /** Sets or replaces a secret, and loads the configuration again if it uses it. Returns the problems of that. */
  setSecret(name: string, value: string, by: Actor, steps: readonly Step[]): Promise<readonly Remark[]>;
  /** Deletes a secret. `used`: nothing is deleted, because the current text has it at these places. */
  deleteSecret(
    name: string,
    steps: readonly Step[],
  ): Promise<
    { readonly outcome: 'deleted' | 'unknown' } | { readonly outcome: 'used'; readonly usedIn: readonly string[] }
  >;
  /** Runs `work` with the services of a text that is not saved. Its plugins are not started. */
  candidate<T>(
    text: string,
    work: (candidate: Candidate) => Promise<T>,
  ): Promise<{ readonly problems: readonly Remark[] } | { readonly result: T }>;
}
/** The service `Configuring`. */
export const Configuring = service<Configuring>('configuring');
