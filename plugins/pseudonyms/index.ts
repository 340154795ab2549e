/** The plugin `pseudonyms`: vendors get placeholders for personal data, and clients get the data back in the answer. */
import { patternFinder, wordFinder } from '../../core/contracts/matching.ts';
import { type Content, definePlugin, type Inspection, type Known, type Parts, slot } from '../../core/plugin.ts';
import { isInScope } from '../../core/sdk.ts';
import { createTextRevision } from '../../core/translation/index.ts';
import { BUILT_IN, builtIn, pseudonymsSection } from './section.ts';
import { type KindFinder, placeholderFinders, Table } from './table.ts';

/** The placeholders of a call in which something was replaced. */
const placeholders = slot<Table>('pseudonyms.table');

export default definePlugin({
  name: 'pseudonyms',
  api: 2,
  sections: { pseudonyms: pseudonymsSection },
  create(host, { pseudonyms: section }): Parts {
    const listed: readonly KindFinder[] = [
      ...section.lists.map(({ kind, words }) => ({ kind, ...wordFinder(words) })),
      ...section.patterns.flatMap(({ kind, pattern }, i) => {
        try {
          return [{ kind, ...patternFinder(pattern) }];
        } catch (error) {
          host.problem(['pseudonyms', 'patterns', i, 'pattern'], (error as Error).message);
          return [];
        }
      }),
      ...section.find.map((name) => ({ kind: BUILT_IN[name].kind, ...builtIn(name) })),
    ];
    const finders = [...listed, ...placeholderFinders(listed.map(({ kind }) => kind))];
    async function hide(x: Known, content: Content): Promise<Inspection | undefined> {
      const table = new Table(finders);
      const inspection = await content.mapTexts((text) => table.hide(text));
      if (inspection === undefined) return undefined;
      placeholders.set(x, table);
      x.note({ pseudonyms: Object.fromEntries(table.counts) });
      return inspection;
    }

    // Without kinds and lists, the plugin does not inspect calls.
    if (listed.length === 0) return {};
    const kinds = [...new Set(listed.map(({ kind }) => kind))].join(', ');
    return {
      inspect: (x, content) => (isInScope(section, x) ? hide(x, content) : undefined),
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
        if (isInScope(section, x)) yield `replaces ${kinds}`;
      },
      report: () => [`replaces ${kinds}`],
    };
  },
});
