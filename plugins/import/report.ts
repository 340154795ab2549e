/** Prints what was, or would be, imported: what becomes what, what is left and why. */
import { table } from '../../core/sdk.ts';
import type { Inventory } from './inventory.ts';
import type { Difference } from './list-prices.ts';
import type { Takeover } from './take-over.ts';

/** The report of one import, as text. */
export function report(of: {
  readonly inventory: Inventory;
  readonly takeover: Takeover;
  /** A line for each file. */
  readonly written: readonly string[];
  readonly differences: readonly Difference[];
  readonly isDry: boolean;
}): string {
  const { inventory, takeover, written, differences, isDry } = of;
  const fresh = takeover.taken.filter(({ isNew }) => isNew);
  const left = [...inventory.left, ...takeover.left];
  const rows = [
    ...takeover.taken.map(({ kind, from, to, isNew }) => [
      kind,
      from,
      to,
      isNew ? (isDry ? 'would be new' : 'new') : 'unchanged',
    ]),
    ...inventory.channels.map(({ name, vendor, url }) => [
      'channel',
      name,
      `vendor ${vendor}${url === undefined ? '' : `, ${url}`}`,
      'file',
    ]),
    ...[...inventory.models].map(([name, { from, price }]) => [
      'model',
      name,
      [
        from.map(({ channel, model }) => (model === name ? channel : `${channel}: ${model}`)).join(', '),
        priceText(price),
      ].join('; '),
      'file',
    ]),
    ...[...inventory.aliases].map(([name, model]) => ['alias', name, model, 'file']),
  ];
  const parts = [
    rows.length === 0 ? [] : [table([['WHAT', 'THERE', 'HERE', 'STATE'], ...rows])],
    section(
      'Different from the list prices:',
      differences.map(({ model, text }) => `${model}: ${text}`),
    ),
    section(
      'Left:',
      left.map(({ what, why }) => `${what}: ${why}`),
    ),
    section('Files:', written),
    section(
      'To hand out (the secrets are in the last file):',
      takeover.handouts.map(({ account, what }) => `${account}: ${what}`),
    ),
    [summary(fresh.length, takeover.taken.length - fresh.length, left.length, isDry)],
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function priceText(price: Readonly<Record<string, string>> | undefined): string {
  if (price === undefined) return 'list price';
  return Object.entries(price)
    .map(([unit, amount]) => `${unit} ${amount}`)
    .join(', ');
}

function summary(fresh: number, before: number, left: number, isDry: boolean): string {
  const rest = `${before} unchanged, ${left} left`;
  if (isDry) return `dry run, nothing was changed: ${fresh} would be new, ${rest}`;
  return fresh === 0 ? `nothing was changed: ${rest}` : `${fresh} new, ${rest}`;
}
