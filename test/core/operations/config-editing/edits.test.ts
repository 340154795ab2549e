/** Edits of gateway.yaml: comments and order stay, whatever is changed. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a value is one
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TextEdit } from '../../../../core/contracts/configuring.ts';
import { applyEdits } from '../../../../core/operations/config-editing/edits.ts';

describe('an edit of the text', () => {
  const cases: readonly (readonly [name: string, edits: readonly TextEdit[], from: string, to: string])[] = [
    [
      'sets a value and keeps the comment of its line',
      [{ path: ['listen', 'port'], value: 9000 }],
      'listen:\n  port: 8080   # the port\n  host: a\n',
      'listen:\n  port: 9000   # the port\n  host: a\n',
    ],
    [
      'adds a member behind the last one and the comments that are indented below it',
      [{ path: ['b', 'z'], value: 'x y' }],
      'b:\n  a: 1\n    # below a\n  # below b\nc: 2\n',
      'b:\n  a: 1\n    # below a\n  z: "x y"\n  # below b\nc: 2\n',
    ],
    [
      'adds several members of one map in their order, and changes the one that is there',
      [
        { path: ['b', 'c'], value: { from: ['a'] } },
        { path: ['b', 'x:z'], value: 2 },
        { path: ['b', 'a'], value: 3 },
        { path: ['b', 'w'], value: 4 },
      ],
      'b:\n  a: 1   # one\n\nc: 2\n',
      'b:\n  a: 3   # one\n  c: { from: [a] }\n  "x:z": 2\n  w: 4\n\nc: 2\n',
    ],
    [
      'adds several members of a map in braces',
      [
        { path: ['b', 'c'], value: 2 },
        { path: ['b', 'z'], value: 3 },
      ],
      'b: { a: 1 } # b\n',
      'b: { a: 1, c: 2, z: 3 } # b\n',
    ],
    [
      'writes the line ends of the text',
      [
        { path: ['b', 'd'], value: 3 },
        { path: ['e'], value: 4 },
      ],
      'a: 1\r\nb:\r\n  c: 2 # x\r\n',
      'a: 1\r\nb:\r\n  c: 2 # x\r\n  d: 3\r\ne: 4\r\n',
    ],
    [
      'adds an item to a list in one line',
      [{ path: ['a', 2], value: 'three' }],
      'a: [one, two]  # some\n',
      'a: [one, two, three]  # some\n',
    ],
    [
      'creates missing maps, and fills an empty section',
      [
        { path: ['models', 'gpt', 'from', 0], value: 'main' },
        { path: ['limits', 'user'], value: { calls: 3 } },
      ],
      '# head\nmodels:   # none yet\n',
      '# head\nmodels: { gpt: { from: [main] } }   # none yet\nlimits: { user: { calls: 3 } }\n',
    ],
    [
      'appends several items behind the comments of the last one',
      [
        { path: ['channels', 1], value: { name: 'b' } },
        { path: ['channels', 2], value: { name: 'c' } },
      ],
      'channels:\n  - name: a\n    # key: x\n# models\nmodels: {}\n',
      'channels:\n  - name: a\n    # key: x\n  - { name: b }\n  - { name: c }\n# models\nmodels: {}\n',
    ],
    [
      'removes an item with its comments, and leaves the comments around it',
      [{ path: ['channels', 1], remove: true }],
      'channels: # all\n  - name: a\n  # between\n  - name: b # second\n    key: c\n    # org: d\n  # end\n',
      'channels: # all\n  - name: a\n  # between\n  # end\n',
    ],
    [
      'removes the first member of an item',
      [{ path: [0, 'a'], remove: true }],
      '- a: 1\n  b: 2 # two\n',
      '- b: 2 # two\n',
    ],
    [
      'removes the last item and keeps the list',
      [{ path: ['channels', 0], remove: true }],
      'channels:\n  # the only one\n  - { name: a }\nmodels: {}\n',
      'channels: []\n  # the only one\nmodels: {}\n',
    ],
    [
      'removes from a list of several lines without its neighbour’s comment',
      [{ path: ['a', 1], remove: true }],
      'a: [\n  one, # first\n  two  # second\n]\n',
      'a: [\n  one, # first\n    # second\n]\n',
    ],
    [
      'renames a member in its place',
      [{ path: ['models', 'a'], rename: 'b/c' }],
      'models:\n  z: 1\n  a: { x: 1 } # comment\n  y: 2\n',
      'models:\n  z: 1\n  b/c: { x: 1 } # comment\n  y: 2\n',
    ],
    [
      'changes only what differs if a whole map is given',
      [{ path: ['a'], value: { b: 1, c: 3, e: [1, 2] } }],
      'a:\n  # about b\n  b: 1 # b\n  c: 2 # c\n  d: 4 # d\n',
      'a:\n  # about b\n  b: 1 # b\n  c: 3 # c\n  e: [1, 2]\n',
    ],
    [
      'quotes text that could be something else',
      [{ path: ['a'], value: { yes: 'no', n: '1', t: 'a: b', u: '${KEY}', e: '' } }],
      '',
      'a: { "yes": "no", "n": "1", t: "a: b", u: "${KEY}", e: "" }\n',
    ],
  ];
  for (const [name, edits, from, to] of cases)
    it(name, () => {
      assert.equal(applyEdits(from, edits), to);
    });

  it('refuses a path through what JavaScript gives every object, and changes nothing of it', () => {
    for (const [path, more] of [
      [['__proto__', 'polluted'], { value: 1 }],
      [['a', '__proto__', 0], { value: 1 }],
      [['a', 'constructor', 'prototype', 'polluted'], { remove: true }],
      [['a'], { rename: '__proto__' }],
    ] as const)
      assert.throws(() => applyEdits('a: [1]\n', [{ path, ...more }]), RangeError);
    assert.deepEqual([({} as { polluted?: unknown }).polluted, Array.prototype.length], [undefined, 0]);
  });

  it('refuses more changes than a long text allows in one request', () => {
    const text = `a: 0\n${'# comment\n'.repeat(20_000)}`;
    const edits = Array.from({ length: 22 }, (_, i) => ({ path: ['a'], value: i + 1 }));
    assert.throws(() => applyEdits(text, edits), /more than 20 values change; edit the text itself/);
  });

  it('appends more items to a long text than single changes are allowed', () => {
    const text = `a: [0]\n${'# comment\n'.repeat(20_000)}`;
    const edits = Array.from({ length: 300 }, (_, i) => ({ path: ['a', i + 1], value: i + 1 }));
    assert.match(applyEdits(text, edits), /^a: \[0, 1, 2, .*, 300\]$/m);
  });

  it('changes thousands of values of one text, each in its place', () => {
    const names = Array.from({ length: 3_000 }, (_, i) => `m${i}`);
    const textOf = (from: string): string =>
      `models:\n${names.map((name) => `  ${name}: { from: ${from} } # ${name}\n`).join('')}# end\n`;
    const edits = names.map((name) => ({ path: ['models', name, 'from'], value: ['a', 'b'] }));
    assert.equal(applyEdits(textOf('[a]'), edits), textOf('[a, b]'));
  });

  it('makes changes that depend on others after them', () => {
    const edits: readonly TextEdit[] = [
      { path: ['a', 'x'], value: 2 },
      { path: ['b', 0], remove: true },
      { path: ['b', 0], value: 'two' },
      { path: ['a', 'new'], value: { p: 1 } },
      { path: ['a', 'new', 'q'], value: 2 },
      { path: ['a', 'x'], rename: 'z' },
      { path: ['a', 'z'], value: 3 },
      { path: ['c'], value: 4 },
    ];
    assert.equal(
      applyEdits('a:\n  x: 1 # x\nb:\n  - one\n  - second # 2\n', edits),
      'a:\n  z: 3 # x\n  new: { p: 1, q: 2 }\nb:\n  - two # 2\nc: 4\n',
    );
  });

  it('refuses what it cannot do, and names the path', () => {
    for (const [text, edit, message] of [
      ['a: 1\n', { path: ['b'], remove: true }, 'b does not exist'],
      ['a: [1]\n', { path: ['a', 3], value: 1 }, 'a[3] is behind the end of the list'],
      ['a: 1\nb: 2\n', { path: ['a'], rename: 'b' }, 'b exists'],
      ['a: 1\n', { path: ['a', 'b'], value: 1 }, 'a is neither a map nor a list'],
      ['a: 1\n', { path: ['a'] }, 'a has neither `value` nor `remove` nor `rename`'],
      ['a: [\n', { path: ['a'], value: 1 }, 'the text is not YAML'],
      ['a: &x { n: 1 }\nb: *x\n', { path: ['a', 'n'], value: 2 }, 'cannot be changed without changing other values'],
      ['a: &x { n: 1 }\nb: *x\n', { path: ['b', 'n'], value: 2 }, 'b is an alias'],
    ] as const)
      assert.throws(
        () => applyEdits(text, [edit as TextEdit]),
        (error) => error instanceof RangeError && error.message.includes(message),
        message,
      );
  });
});
