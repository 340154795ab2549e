import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Conversation, Turn } from '../../../core/contracts/formats/conversation.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import type { Target } from '../../../core/contracts/formats/style.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { share } from '../../kit/console/whole.ts';
import { conversations, STYLES, targetOf } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';

const flags = fc.boolean();
const quirks: fc.Arbitrary<SomeQuirks> = fc.record({
  roles: fc.record({
    developer: fc.constantFrom('keep', 'system'),
    mid_system: fc.constantFrom('native', 'front', 'user_wrap'),
    merge_same: flags,
    merge_system: flags,
    first_user: flags,
  }),
  content: fc.record({ tool_result_images: fc.constantFrom('native', 'user_message', 'drop') }),
  image: fc.record({
    url: fc.constantFrom('native', 'fetch'),
    types: fc.constant(['image/png', 'image/bmp', 'application/pdf']),
  }),
  audio: fc.record({ input: flags, output: flags }),
  tools: fc.record({
    name_max: fc.constantFrom(64, 128),
    name_pattern: fc.constantFrom('^[a-zA-Z0-9_-]+$', '[a-zA-Z_][a-zA-Z0-9_.:-]*'),
    id_max: fc.constantFrom(9, 40, 64),
    id_pattern: fc.constantFrom('^[a-zA-Z0-9_-]+$', '[a-zA-Z0-9]+'),
    strict: flags,
    custom: flags,
    parallel_flag: flags,
    force_with_thinking: flags,
    web_search: flags,
  }),
  reasoning: fc.record({
    input: fc.constantFrom('none', 'effort', 'budget', 'level', 'adaptive'),
    levels: fc.constantFrom([], ['none', 'low', 'high'], ['minimal', 'low', 'medium', 'high', 'xhigh'], ['on']),
    budget_min: fc.constantFrom(0, 1_024),
    signature_scope: fc.constantFrom('provider', 'credential_group'),
  }),
  output: fc.record({ schema_with_tools: flags }),
  limits: fc.constantFrom({}, { max_output: 4_096, min_output: 16 }, { context: 50 }),
  sampling: fc.record({
    allowed: fc.subarray(['temperature', 'top_p', 'top_k', 'seed', 'logit_bias']),
    temp_max: fc.constantFrom(1, 2),
    temp_xor_top_p: flags,
  }),
  prefill: flags,
  stop: fc.record({ max: fc.constantFrom(0, 1, 4) }),
}) as fc.Arbitrary<SomeQuirks>;

/** What becomes of a conversation; undefined where it is refused. */
function adapted(conversation: Conversation, to: Target, style: string): Conversation | undefined {
  try {
    return adapt(conversation, style, to, collectWarnings({})).conversation;
  } catch (error) {
    assert.ok(error instanceof GatewayError, `threw ${error}`);
    assert.equal(error.status, 400);
    return undefined;
  }
}

/** Runs over conversations that are not refused, of which there have to be many. */
function forAll(check: (conversation: Conversation, to: Target, style: string) => void): void {
  let taken = 0;
  fc.assert(
    fc.property(conversations, quirks, fc.constantFrom(...STYLES), (conversation, some, style) => {
      const to = targetOf(some);
      const result = adapted(conversation, to, style);
      if (result === undefined) return;
      taken++;
      check(result, to, style);
    }),
    { numRuns: 500 },
  );
  assert.ok(taken > share(100), `only ${taken} were not refused`);
}

const spoken = (turns: readonly Turn[]): readonly Turn[] =>
  turns.filter(({ role }) => role === 'user' || role === 'assistant');

describe('a conversation adapted to a model', () => {
  it('is refused with 400 or adapted, and adapting it again changes nothing', () => {
    forAll((conversation, to, style) => assert.deepEqual(adapted(conversation, to, style), conversation));
  });

  it('has the order of turns that encoders rely on', () => {
    forAll(({ turns }, { quirks: { roles, prefill } }) => {
      const speech = spoken(turns);
      assert.ok(speech.length > 0, 'somebody speaks');
      assert.ok(
        turns.every(({ blocks }) => blocks.length > 0),
        'no turn is empty',
      );
      assert.ok(
        turns.every(({ blocks }) => blocks.every((block) => block.type !== 'text' || block.text.trim() !== '')),
        'no text is empty',
      );
      if (roles.first_user) assert.equal(speech[0]?.role, 'user');
      if (roles.mid_system !== 'native') {
        assert.deepEqual(turns.slice(-speech.length), speech, 'instructions stand in front');
      }
      const neighbours = turns.slice(1).map((turn, i) => [turns[i]!, turn] as const);
      if (roles.merge_same) {
        assert.ok(
          neighbours.every(([a, b]) => a.role !== b.role || a.role === 'system' || a.role === 'developer'),
          'sides take turns',
        );
      }
      if (!prefill) {
        const last = turns.at(-1)!;
        assert.ok(
          last.role !== 'assistant' || last.blocks.some(({ type }) => type === 'toolCall'),
          'the model does not go on',
        );
      }
    });
  });

  it('has a result for every call, first in the next turn, with its own id', () => {
    let pairs = 0;
    forAll(({ turns }, { quirks: { tools } }) => {
      const seen = new Set<string>();
      for (const [i, { role, blocks }] of turns.entries()) {
        const calls = blocks.flatMap((block) => (block.type === 'toolCall' ? [block.id] : []));
        const results = blocks.flatMap((block) => (block.type === 'toolResult' ? [block.id] : []));
        for (const id of calls) {
          assert.ok(!seen.has(id), `id ${id} comes once`);
          assert.ok(id.length <= tools.id_max && new RegExp(`^(?:${tools.id_pattern})$`).test(id), `id ${id} is legal`);
          seen.add(id);
        }
        assert.ok(role === 'assistant' || calls.length === 0, 'only the model calls');
        const next = turns[i + 1];
        if (next === undefined) continue;
        const answered = next.blocks.flatMap((block) => (block.type === 'toolResult' ? [block.id] : []));
        assert.deepEqual(answered.toSorted(), calls.toSorted());
        assert.ok(
          next.blocks.slice(0, answered.length).every(({ type }) => type === 'toolResult'),
          'results come first',
        );
        assert.ok(i > 0 || results.length === 0, 'nothing is answered before it is asked');
        pairs += answered.length;
      }
    });
    assert.ok(pairs > share(50), `only ${pairs} pairs were seen`);
  });

  it('has tool names that the vendor accepts, each once, also in calls and choices', () => {
    forAll(({ tools, toolChoice, turns }, { quirks: { tools: rule } }) => {
      const names = tools.map(({ name }) => name);
      const own = tools.filter(({ type }) => type !== 'hosted').map(({ name }) => name);
      const calls = turns.flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === 'toolCall' ? [block] : [])),
      );
      assert.equal(new Set(own).size, own.length);
      for (const name of [...own, ...calls.map((call) => call.name)]) {
        assert.ok(
          name.length <= rule.name_max && new RegExp(`^(?:${rule.name_pattern})$`).test(name),
          `${name} is legal`,
        );
      }
      assert.ok(
        calls.every((call) => call.namespace === undefined),
        'there are no namespaces',
      );
      assert.ok(toolChoice?.only?.every((name) => names.includes(name)) ?? true, 'only what exists is chosen');
      assert.ok(tools.length > 0 || toolChoice === undefined, 'nothing is chosen where there is nothing');
      if (!rule.custom)
        assert.ok(
          calls.every(({ kind }) => kind === 'function'),
          'all calls are of functions',
        );
    });
  });

  it('has nothing that only another vendor can read', () => {
    forAll(({ turns }, { quirks: { reasoning } }, style) => {
      for (const block of turns.flatMap(({ blocks }) => blocks)) {
        assert.ok(block.type !== 'foreign' || block.style === style, 'a foreign block is of the style');
        if ((block.type !== 'thinking' && block.type !== 'toolCall') || block.opaque === undefined) continue;
        assert.equal(block.opaque.style, style);
        if (reasoning.signature_scope === 'credential_group') assert.notEqual(block.opaque.channel, 'there');
      }
    });
  });

  it('requests as much reasoning as its model supports', () => {
    forAll(({ reasoning, maxTokens }, { quirks: { reasoning: rule } }) => {
      if (reasoning === undefined) return;
      assert.notEqual(rule.input, 'none');
      if (reasoning.mode === 'off') assert.ok(rule.levels.includes('none') || rule.budget_min === 0, 'it can be told');
      if (rule.input !== 'budget') assert.equal(reasoning.budget, undefined);
      else assert.equal(reasoning.effort, undefined);
      if (reasoning.budget === undefined) return;
      assert.ok(reasoning.budget >= rule.budget_min && reasoning.budget <= rule.budget_max, 'it is in its bounds');
      assert.ok(reasoning.budget < (maxTokens ?? Number.POSITIVE_INFINITY), 'it leaves room');
    });
  });
});
