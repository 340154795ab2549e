/** Random edits of a gateway.yaml, as the forms of the console make them, and the comments of a text. */
import { Lexer, parse } from 'yaml';
import type { TextEdit } from '../../../core/contracts/configuring.ts';
import type { Json } from '../../../core/contracts/formats/json.ts';

/** A comment and its offset. */
export interface Comment {
  readonly at: number;
  /** With its `#`. */
  readonly text: string;
}

/** Tokens of the lexer that are not in the text: https://eemeli.org/yaml/#lexer */
const MARKS = ['\u{2}', '\u{18}', '\u{1f}'];

/** Every comment of a text, in order. */
export function commentsOf(text: string): readonly Comment[] {
  const comments: Comment[] = [];
  let at = 0;
  for (const token of new Lexer().lex(text)) {
    if (MARKS.includes(token)) continue;
    if (token.startsWith('#')) comments.push({ at, text: token });
    at += token.length;
  }
  return comments;
}

type Members = Readonly<Record<string, Json>>;

/** An edit of channels, models, prices, aliases, plans or the pipeline, chosen by `pick`, that fits the text. */
export function editsOf(text: string, pick: () => number): TextEdit {
  const config = parse(text) as Readonly<Record<string, Json>>;
  const channels = (config.channels ?? []) as readonly Members[];
  const models = (config.models ?? {}) as Members;
  const one = <T>(list: readonly T[]): T => list[pick() % list.length]!;
  const fresh = (kind: string): string => `${kind}-${pick() % 100_000}`;
  const names = Object.keys(models);
  const price = { input: (pick() % 100) / 10, output: pick() % 100 };
  const from = channels.length === 0 ? [] : [one(channels).name as string];
  const edits: readonly (() => TextEdit | undefined)[] = [
    () => ({ path: ['channels', channels.length], value: { name: fresh('channel'), vendor: 'demo' } }),
    () => ({
      path: ['channels', channels.length],
      value: {
        name: fresh('c'),
        vendor: 'compatible',
        url: `https://${fresh('host')}.example.com/v1`,
        key: `\${secret:${fresh('KEY')}}`,
      },
    }),
    () => (channels.length < 2 ? undefined : { path: ['channels', pick() % channels.length], remove: true }),
    () =>
      channels.length === 0
        ? undefined
        : { path: ['channels', pick() % channels.length, 'weight'], value: 1 + (pick() % 9) },
    () =>
      channels.length === 0
        ? undefined
        : {
            path: ['channels', pick() % channels.length, 'headers'],
            value: { 'x-team': fresh('team'), 'x-note': 'a: b # c' },
          },
    () => {
      const i = channels.findIndex((channel) => Object.keys(channel).length > 2);
      return i < 0 ? undefined : { path: ['channels', i, one(Object.keys(channels[i]!).slice(2))], remove: true };
    },
    () => ({ path: ['models', fresh('model')], value: { from, price } }),
    () => ({ path: ['models', fresh('alias')], value: names.length === 0 ? { from } : one(names) }),
    () => (names.length < 2 ? undefined : { path: ['models', one(names)], remove: true }),
    () => (names.length === 0 ? undefined : { path: ['models', one(names)], rename: fresh('renamed') }),
    () => (names.length === 0 ? undefined : { path: ['models', one(names)], value: { from, price, only: ['chat'] } }),
    () => {
      const name = names.find(
        (each) => typeof models[each] === 'object' && (models[each] as Members).price !== undefined,
      );
      return name === undefined ? undefined : { path: ['models', name, 'price', 'input'], value: pick() % 50 };
    },
    () => ({ path: ['plans', fresh('plan')], value: { quota: 1_000_000, days: 30 } }),
    () => ({ path: ['listen', 'drain'], value: `${1 + (pick() % 60)}s` }),
    () =>
      Array.isArray(config.pipeline)
        ? { path: ['pipeline', pick() % config.pipeline.length], remove: true }
        : undefined,
    () =>
      Array.isArray(config.pipeline)
        ? { path: ['pipeline', config.pipeline.length], value: fresh('plugin') }
        : undefined,
  ];
  for (;;) {
    const edit = one(edits)();
    if (edit !== undefined) return edit;
  }
}
