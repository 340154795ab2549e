/** The plugin `pseudonyms`: vendors get placeholders for personal data, and clients get the data back in the answer. */
import { type Content, definePlugin, type Inspection, type Known, type Parts, slot } from '../../core/plugin.ts';
import { createSearch, isInScope, MOST_MATCHES, scopeServices, tooManyMatches, warnOfScope } from '../../core/sdk.ts';
import { createTextRevision } from '../../core/translation/index.ts';
import { findersOf } from './finders.ts';
import { pseudonymsSection } from './section.ts';
import { Table } from './table.ts';

/** The placeholders of a call in which something was replaced. */
const placeholders = slot<Table>('pseudonyms.table');

export default definePlugin({
  name: 'pseudonyms',
  api: 2,
  sections: { pseudonyms: pseudonymsSection },
  wants: scopeServices,
  create(host, { pseudonyms: section }): Parts {
    const finders = findersOf(section, (i, message) => host.problem(['pseudonyms', 'patterns', i, 'pattern'], message));
    const all = finders.map((_, i) => i);
    const search = createSearch(new URL('./pseudonyms-thread.ts', import.meta.url), section);

    /** A large text is searched in a thread. */
    async function hideIn(table: Table, text: string): Promise<string> {
      const matches = await search.find(text, all, MOST_MATCHES + 1);
      if (matches.length > MOST_MATCHES * 3) tooManyMatches();
      return table.hideMatches(text, matches);
    }

    async function hide(x: Known, content: Content): Promise<Inspection | undefined> {
      const table = new Table(finders);
      const inspection = await content.mapTexts((text, aside) => (aside ? hideIn(table, text) : table.hide(text)));
      if (inspection === undefined) return undefined;
      placeholders.set(x, table);
      x.note({ pseudonyms: Object.fromEntries(table.counts) });
      return inspection;
    }

    // Without kinds and lists, the plugin does not inspect calls.
    if (finders.length === 0) return {};
    const kinds = [...new Set(finders.map(({ kind }) => kind))].join(', ');
    return {
      inspect: (x, content) => (isInScope(section, x, host) ? hide(x, content) : undefined),
      revise(x) {
        const table = placeholders.get(x);
        return (
          table &&
          createTextRevision({
            flow: () => table.flow(),
            map: (text) => table.restore(text),
          })
        );
      },
      *explain(x) {
        if (isInScope(section, x, host)) yield `replaces ${kinds}`;
      },
      link: () => warnOfScope(host, ['pseudonyms'], section, true),
      report: () => [`replaces ${kinds}`],
      stop: () => search.close(),
    };
  },
});
