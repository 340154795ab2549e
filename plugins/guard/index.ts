/** The plugin `guard`: refuses or redacts words and patterns in requests and answers. */
import { definePlugin, type Known, type Parts, slot } from '../../core/plugin.ts';
import { createSearch, scopeServices, warnOfScope } from '../../core/sdk.ts';
import { createTextRevision } from '../../core/translation/index.ts';
import { errors } from './errors.ts';
import { type Applied, applyRules, applyToLarge, createFlow } from './flow.ts';
import { createRule, guardSection, type Rule, rulesFor } from './section.ts';

/** The rules that have matched in a call. */
const matches = slot<Set<string>>('guard.found');

export default definePlugin({
  name: 'guard',
  api: 2,
  errors,
  sections: { guard: guardSection },
  wants: scopeServices,
  create(host, { guard }) {
    const rules = guard.rules.flatMap((entry, i) => {
      if (guard.rules.findIndex(({ name }) => name === entry.name) < i) {
        host.problem(['guard', 'rules', i, 'name'], `${entry.name} is the name of another rule`);
      }
      try {
        return [createRule(entry)];
      } catch (error) {
        host.problem(['guard', 'rules', i, 'pattern'], (error as Error).message);
        return [];
      }
    });
    const search = createSearch(new URL('./guard-thread.ts', import.meta.url), guard.rules);
    // A word and the character that ends it fit into the held-back text.
    const longest = Math.max(0, ...guard.rules.flatMap(({ words = [] }) => words.map((word) => word.length + 1)));
    const window = Math.max(guard.window, longest);
    function apply(x: Known, side: 'input' | 'output'): Applied | undefined {
      const own = rulesFor(rules, x, side, host);
      if (own.length === 0) return undefined;
      return {
        refusing: own.filter(({ action }) => action === 'refuse'),
        redacting: own.filter(({ action }) => action === 'redact'),
        matched: (rule) => matched(x, rule, side),
      };
    }

    function matched(x: Known, { name, action }: Rule, side: 'input' | 'output'): void {
      const names = matches.get(x) ?? new Set();
      matches.set(x, names.add(name));
      x.note({ guard: [...names] });
      if (action === 'refuse') refuseContent(name, side);
    }

    // Without rules, the plugin does not inspect calls.
    const looksAt = (side: 'input' | 'output') => rules.some(({ where }) => where === side || where === 'both');
    const parts: Parts = {
      inspect(x, content) {
        const applied = apply(x, 'input');
        return (
          applied &&
          content.mapTexts((text, aside) =>
            aside ? applyToLarge(applied, rules, search, text) : applyRules(applied, text),
          )
        );
      },
      revise(x) {
        const applied = apply(x, 'output');
        return (
          applied &&
          createTextRevision({
            flow: () => createFlow(applied, window),
            map: (text) => applyRules(applied, text),
          })
        );
      },
    };
    return {
      ...(looksAt('input') && { inspect: parts.inspect }),
      ...(looksAt('output') && { revise: parts.revise }),
      stop: () => search.close(),
      *explain(x: Known) {
        for (const side of ['input', 'output'] as const) {
          const names = rulesFor(rules, x, side, host).map(({ name, action }) => `${name} (${action})`);
          if (names.length > 0) yield `${side}: ${names.join(', ')}`;
        }
      },
      link() {
        for (const [i, entry] of guard.rules.entries()) warnOfScope(host, ['guard', 'rules', i], entry, true);
      },
      report: () =>
        rules.length === 0 ? [] : [`${rules.length} rules; ${window} characters of a stream are held back`],
    };
  },
});

function refuseContent(rule: string, side: 'input' | 'output'): never {
  const what = side === 'input' ? 'The request' : 'The answer';
  throw errors.content_refused(what, rule);
}
