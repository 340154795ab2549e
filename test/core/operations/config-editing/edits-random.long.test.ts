/** Random edits of the configurations that ship: comments and order stay, whatever is changed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isMap, isSeq, LineCounter, type Node, parse, parseDocument } from 'yaml';
import type { TextEdit } from '../../../../core/contracts/configuring.ts';
import { applyEdits } from '../../../../core/operations/config-editing/edits.ts';
import { commentsOf, editsOf } from '../../../kit/console/config-edits.ts';
import fc from '../../../kit/fast-check.ts';

const FILES = ['../../../../gateway.yaml', '../../../../scripts/deploy/gateway.yaml'].map((path) =>
  readFileSync(new URL(path, import.meta.url), 'utf8'),
);

describe('random edits', () => {
  it('keeps every comment that does not belong to a removed value, in 100 random edits of each file', () => {
    for (const file of FILES) {
      let text = file;
      fc.assert(
        fc.property(fc.infiniteStream(fc.nat()), (stream) => {
          const pick = (): number => stream.next().value as number;
          const edit = editsOf(text, pick);
          const isInside = insideOf(text, edit);
          const kept = commentsOf(text).filter(({ at }) => !isInside(at));
          const next = applyEdits(text, [edit]);
          const left = commentsOf(next).map((comment) => comment.text);
          for (const { text: comment } of kept) {
            const i = left.indexOf(comment);
            assert.notEqual(i, -1, `lost by ${JSON.stringify(edit)}: ${comment}`);
            // In order: what is before it was found already, or is new.
            left.splice(0, i + 1);
          }
          assert.deepEqual(parse(next), valueAfter(parse(text), edit), JSON.stringify(edit));
          text = next;
        }),
        { numRuns: 100, endOnFailure: true },
      );
      assert.notEqual(text, file);
    }
  });
});

/** Tells whether a comment belongs to what an edit removes: inside it, on its lines, or indented below it. */
function insideOf(text: string, { path, value, remove }: TextEdit): (at: number) => boolean {
  if (remove !== true && value === undefined) return () => false;
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines });
  const holder = path.length === 1 ? doc.contents : doc.getIn(path.slice(0, -1), true);
  const name = path.at(-1)!;
  const pair = isMap<Node, Node | null>(holder)
    ? holder.items.find(({ key }) => (key as { value?: unknown }).value === name)
    : undefined;
  const node = pair?.value ?? (isSeq(holder) ? (holder.items[name as number] as Node | undefined) : undefined);
  const start = pair?.key.range?.[0] ?? node?.range?.[0];
  if (node?.range == null || start === undefined) return () => false;
  const [, end, behind] = node.range;
  // Setting a value keeps the comment behind it.
  if (remove !== true) return (at) => at > start && at < end;
  const column = lines.linePos(start).col - (isSeq(holder) ? 2 : 0);
  const lastLine = lines.linePos(end - 1).line;
  return (at) => {
    const own = lines.linePos(at);
    return at > start && (at < end || own.line <= lastLine || (at < behind && own.col > column));
  };
}

/** The values after an edit, made another way: by the document of the package. */
function valueAfter(whole: unknown, { path, value, remove, rename }: TextEdit): unknown {
  const doc = parseDocument(JSON.stringify(whole));
  if (remove === true) doc.deleteIn(path);
  else if (rename !== undefined) {
    const old = doc.getIn(path, true);
    doc.deleteIn(path);
    doc.setIn([...path.slice(0, -1), rename], old);
  } else doc.setIn(path, doc.createNode(value));
  return doc.toJS();
}
