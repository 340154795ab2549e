/** How the tables of other programs' ratios are written here: models by ratio, and rules by name. */

/** Ratios as decimal texts, by model. */
export type RatioTable = ReadonlyMap<string, string>;

/** A table from the models of each ratio, separated by spaces. */
export function ratioTable(models: Readonly<Record<string, string>>): RatioTable {
  return new Map(
    Object.entries(models).flatMap(([ratio, names]) =>
      names
        .trim()
        .split(/\s+/)
        .map((name) => [name, ratio] as const),
    ),
  );
}

/** The ratio of names that match; the first rule that does decides. */
export interface NameRule {
  readonly names: RegExp;
  readonly ratio: number;
  /** It wins over a ratio that an administrator stored. */
  readonly isFixed?: true;
}

/** The tables and columns that a database has, by which ranges of versions are told apart: `subscription_plans`, `logs.ip`. */
export type Schema = ReadonlySet<string>;

/** The tables whose columns are looked at. */
export const TABLES = ['users', 'tokens', 'logs', 'channels'] as const;
