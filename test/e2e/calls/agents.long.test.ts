/** Coding agents before vendors of every kind, each as strict as a real one: single tasks, and long conversations that change the model. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { AGENTS, type Agent, type AgentCall, type AgentConversation } from '../../kit/clients/agents.ts';
import { COLLECTORS } from '../../kit/conversations/collected.ts';
import { VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import type { Scenario, SpeechName } from '../../kit/speech.ts';
import type { Answer } from '../../kit/vendors/fake-vendor.ts';
import { breaksOff, failsWith, says } from '../../kit/vendors/scenarios.ts';
import { rst } from '../../kit/vendors/script.ts';

let stand: Stand;
before(async () => {
  stand = await openStand(40);
});
after(() => stand?.stop());

const USAGE = { input: 500, cached: 400, output: 50, reasoning: 10 };

/** What is hard to bring through JSON, events and schemas unharmed. */
const SOURCE = [
  'const s = "\\u00e9 \\" \\\\ \\n";\t// Zürich 👩‍🚒 \u2028 end',
  "<script>alert('x')</script> $HOME {x} `a` data: [DONE]",
  'event: message\ndata: {"a":1}\n\n\r\nlast line without an end',
].join('\n');

const LINES = Array.from({ length: 1_501 }, (_, i) => `line ${i + 1}: ${'x'.repeat(i % 70)} é\n`);

function call(id: string, name: string, input: JsonObject): NonNullable<Scenario['calls']>[number] {
  const json = JSON.stringify(input);
  const cuts = [0, 1, Math.floor(json.length / 3), Math.floor(json.length / 2), json.length];
  return { id, name, pieces: cuts.slice(1).map((end, i) => json.slice(cuts[i], end)) };
}

const DONE: Scenario = { text: ['It is', ' done.'], end: 'stop', usage: USAGE };

/** What the vendor says, one answer after the other; the agent gives each call a result. */
const TASKS = {
  plain: [DONE],
  tool: [
    {
      reasoning: ['Where', ' is it?'],
      calls: [call('r1', 'read_file', { path: '/a b/ü.ts', limit: 20 })],
      end: 'tools',
      usage: USAGE,
    },
    DONE,
  ],
  think: [
    { reasoning: ['First', ' I look.'], calls: [call('r1', 'read_file', { path: 'a' })], end: 'tools', usage: USAGE },
    {
      reasoning: ['Then', ' I look again.'],
      calls: [call('r2', 'read_file', { path: 'b' })],
      end: 'tools',
      usage: USAGE,
    },
    { reasoning: ['Enough.'], ...DONE },
  ],
  parallel: [
    {
      reasoning: ['All', ' of them.'],
      text: ['Three', ' at once.'],
      calls: ['a', 'b', 'c'].map((path, i) => call(`p${i}`, 'read_file', { path })),
      end: 'tools',
      usage: USAGE,
    },
    DONE,
  ],
  edit: [
    {
      reasoning: ['I write.'],
      calls: [call('w1', 'write_file', { path: 'src/odd.ts', content: SOURCE })],
      end: 'tools',
      usage: USAGE,
    },
    DONE,
  ],
  long: [{ text: LINES, end: 'stop', usage: { ...USAGE, output: 20_000 } }],
} satisfies Readonly<Record<string, readonly Scenario[]>>;

function post(agent: Agent, body: JsonObject): Promise<Response> {
  return fetch(stand.root + agent.path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stand.key}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
}

/** One request and its answer; the vendor refuses what a real one would refuse. */
async function step(agent: Agent, talk: AgentConversation, model: string, scenario: Scenario) {
  stand.vendor.next(says(scenario, { key: VENDOR_KEY }));
  const response = await post(agent, talk.body(model));
  const stream = await response.text();
  assert.equal(response.status, 200, stream);
  return talk.keep(await COLLECTORS[agent.style](stream));
}

/** Takes an answer as the vendor meant it, and answers its calls. */
async function work(agent: Agent, talk: AgentConversation, model: string, scenario: Scenario): Promise<void> {
  const { text, calls } = await step(agent, talk, model, scenario);
  assert.equal(text, (scenario.text ?? []).join(''));
  assert.deepEqual(
    calls.map(({ name, input }) => [name, input]),
    (scenario.calls ?? []).map(({ name, pieces }) => [name, JSON.parse(pieces.join(''))]),
  );
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, 'every call has an id of its own');
  for (const made of calls) talk.result(made, resultOf(made));
}

function resultOf({ name, input }: AgentCall): string {
  return `The result of ${name} with ${JSON.stringify(input)}.`;
}

describe('a coding agent does its work', () => {
  for (const agent of AGENTS) {
    for (const kind of KIND_NAMES) {
      it(`${agent.name} with a vendor that speaks ${kind}: ${Object.keys(TASKS).join(', ')}`, async () => {
        for (const [task, scenarios] of Object.entries(TASKS)) {
          const talk = agent.open();
          talk.say(`Do the task ${task}.`);
          for (const scenario of scenarios) await work(agent, talk, modelOf(kind), scenario);
        }
      });
    }
  }
});

describe('a conversation of 30 turns that changes its model in each', () => {
  const step = (turn: number, n: number): Scenario => ({
    reasoning: [`Turn ${turn},`, ` step ${n}.`],
    ...(n === 1 && { text: ['I look', ' at it.'] }),
    calls:
      n === 1
        ? [
            call(`t${turn}a`, 'read_file', { path: `${turn}.ts` }),
            call(`t${turn}b`, 'read_file', { path: `${turn}.md` }),
          ]
        : [call(`t${turn}c`, 'write_file', { path: `${turn}.ts`, content: SOURCE.slice(0, turn * 3) })],
    end: 'tools',
    usage: USAGE,
  });

  for (const agent of AGENTS) {
    it(`${agent.name}: no vendor refuses it, and the last one knows every step`, async () => {
      const talk = agent.open();
      for (let turn = 1; turn <= 30; turn++) {
        const model = modelOf(KIND_NAMES[(turn * 3 + Math.floor(turn / 4)) % KIND_NAMES.length]!);
        talk.say(`Turn ${turn}.`);
        await work(agent, talk, model, step(turn, 1));
        await work(agent, talk, model, step(turn, 2));
        await work(agent, talk, model, {
          reasoning: ['Good.'],
          text: [`Done with ${turn}.`],
          end: 'stop',
          usage: USAGE,
        });
      }
      const last = stand.vendor.requests.at(-1)!.body.toString();
      for (let turn = 1; turn <= 30; turn++) {
        for (const words of [`Turn ${turn}.`, `${turn}.ts`, `${turn}.md`]) assert.ok(last.includes(words), words);
      }
      assert.ok(!last.includes('turnpike-sealed'), 'what was packed for others stays with the gateway');
    });
  }
});

/** What came before the connection ended, well or not. */
async function receivedOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    // The connection broke: what came before it is what the client has.
  }
  return text;
}

describe('a coding agent whose vendor fails', () => {
  const ask = async (agent: Agent, kind: SpeechName, answer: Answer) => {
    const talk = agent.open();
    talk.say('Hello?');
    stand.vendor.next(answer);
    const response = await post(agent, talk.body(stand.fresh(kind)));
    const text = await receivedOf(response);
    return { response, text, error: () => (JSON.parse(text) as { readonly error: JsonObject }).error };
  };
  /** One agent of each style: what they read of a failure is the style's. */
  const agents = AGENTS.filter(({ style }, i) => AGENTS.findIndex((other) => other.style === style) === i);

  for (const agent of agents) {
    for (const kind of KIND_NAMES) {
      it(`${agent.name} with a vendor that speaks ${kind}: reads what it has to do`, async () => {
        const busy = await ask(agent, kind, failsWith(429, 'Slow down.', { 'retry-after': '20' }));
        assert.deepEqual([busy.response.status, busy.response.headers.get('retry-after')], [429, '20']);

        const broken = await ask(agent, kind, failsWith(500, 'Something broke.'));
        assert.ok(broken.response.status >= 500, 'clients ask again after a status from 500 on');

        const overloaded = await ask(agent, kind, failsWith(529, 'Overloaded.'));
        assert.ok(overloaded.response.status >= 500, 'a vendor that has too much to do is not the client’s limit');
        if (agent.style === 'messages' && kind === 'messages') assert.equal(overloaded.response.status, 529);
        if (agent.style === 'messages') assert.equal(overloaded.error().type, 'overloaded_error');

        const overflow = await ask(agent, kind, failsWith(400, 'prompt is too long: 215317 tokens > 200000 maximum'));
        assert.equal(overflow.response.status, 400);
        if (agent.style === 'messages') assert.match(String(overflow.error().message), /prompt is too long/);
        else assert.equal(overflow.error().code, 'context_length_exceeded');

        for (const moves of [undefined, [rst()]]) {
          const cut = await ask(agent, kind, breaksOff(DONE, 1, moves));
          const answer = await COLLECTORS[agent.style](cut.text).catch(() => undefined);
          assert.ok(
            answer === undefined || answer.status === 'failed',
            `taken for an answer: ${JSON.stringify(answer)}`,
          );
        }
      });
    }
  }
});
