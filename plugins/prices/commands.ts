/** The commands `prices update` and `prices history`. */
import { resolve } from 'node:path';
import { COMMAND_LINE } from '../../core/contracts/audit.ts';
import type { PriceComparison } from '../../core/contracts/prices.ts';
import { secondsOf, shownComparison } from '../../core/contracts/shown.ts';
import { type Clock, type Command, UsageError } from '../../core/plugin.ts';
import { LATEST_MS, table } from '../../core/sdk.ts';
import type { TakenPrices } from './updates.ts';

export function priceCommands(updates: TakenPrices, clock: Clock): readonly Command[] {
  return [
    {
      name: 'prices update',
      summary:
        'compares the published price list with the current prices, shows every change, and takes them over from a time on, never retroactively',
      options: {
        'dry-run': { type: 'boolean' },
        all: { type: 'boolean' },
        from: { type: 'string', value: 'URL|FILE' },
        at: { type: 'string', value: 'TIME' },
      },
      async run({ values, cwd }) {
        const { from, at, all } = values;
        const atMs = typeof at === 'string' ? Date.parse(at) : undefined;
        if (atMs !== undefined && !(atMs > clock.now() && atMs <= LATEST_MS))
          throw new UsageError('--at must be a future time such as 2026-12-01T00:00Z');
        const source = typeof from === 'string' && !/^https?:/.test(from) ? resolve(cwd, from) : from;
        const actor = values['dry-run'] === true ? undefined : COMMAND_LINE;
        const done = await updates.update({ from: source as string | undefined, actor, atMs });
        return {
          text: describe(done, all === true),
          json: { ...shownComparison(done), taken: done.taken?.count ?? 0 },
        };
      },
    },
    {
      name: 'prices history',
      summary:
        'lists the published prices that were taken over, newest first: from when they are valid, when and by whom',
      async run() {
        const taken = await updates.history();
        const json = taken.map(({ provider, model, fromMs, takenMs, takenBy, source }) => ({
          model: `${provider} ${model}`,
          valid_from: secondsOf(fromMs),
          taken_at: secondsOf(takenMs),
          taken_by: takenBy,
          source,
        }));
        if (taken.length === 0) {
          return { text: 'no published prices were taken over: those of this version apply', json };
        }
        const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
        const rows = taken.map((each) => [
          time(each.fromMs),
          each.provider,
          each.model,
          time(each.takenMs),
          each.takenBy,
        ]);
        return { text: table([['VALID FROM (UTC)', 'PROVIDER', 'MODEL', 'TAKEN OVER', 'BY'], ...rows]), json };
      },
    },
  ];
}

/** The changes of models that are sold, or all; then what happened. */
function describe({ source, changes, skipped, taken }: PriceComparison, all: boolean): string {
  const shown = changes.filter(({ names }) => all || names.length > 0);
  const rows = shown.flatMap(({ provider, model, kind, amounts }) =>
    amounts.map(({ field, old = '-', new: now = '-', percent }) => [
      `${provider} ${model}`,
      field,
      old,
      now,
      kind === 'new' ? 'new model' : percent === undefined ? '' : `${percent > 0 ? '+' : ''}${percent} %`,
    ]),
  );
  const lines = rows.length === 0 ? [] : [table([['MODEL', 'AMOUNT', 'OLD', 'NEW', 'CHANGE'], ...rows])];
  const hidden = changes.length - shown.length;
  if (changes.length === 0) lines.push(`${source} has no other prices`);
  if (hidden > 0) lines.push(`${hidden} changes of models that are not sold at list prices: --all shows them`);
  if (skipped.length > 0) lines.push(`not taken over, because implausible:\n  ${skipped.join('\n  ')}`);
  if (taken === undefined) lines.push('nothing was taken over');
  else if (taken.count > 0)
    lines.push(`${taken.count} changes were taken over; they are valid from ${new Date(taken.fromMs).toISOString()}`);
  return lines.join('\n');
}
