/** The kit finds faults: in plugins of authors outside the checkout, with the package as `npm pack` makes it, and plain `node --test`. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { some } from '../../kit/console/whole.ts';
import { type Packed, packTurnpike, type Tested, testedTogether } from '../authors/packed.ts';

/** A change of an author's plugin that makes it wrong: what it loses, what stands there, what stands there then, and what the kit says of it. */
type Fault = readonly [loses: string, from: string, to: string, finds: RegExp, says: RegExp];

const PLUGINS: Readonly<Record<string, readonly Fault[]>> = {
  // A style that only vendors use.
  maple: [
    ['the id of a tool call', "id: textIn(call, 'id') ?? ''", "id: ''", /tool calls/, /the id of the tool call/],
    [
      'the id of a tool result',
      'tool_call_id: block.id',
      "tool_call_id: ''",
      /whole request/,
      /the id call_weather1 of the tool result/,
    ],
    [
      'the reason of the end',
      "MAX_TOKENS: 'length'",
      "MAX_TOKENS: 'stop'",
      /became too long/,
      /the end and its reason/,
    ],
    [
      'the number of tokens, by doubling it',
      'output = tokensIn(tokens.output_tokens)',
      'output = 2 * tokensIn(tokens.output_tokens)',
      /to the client/,
      /the output tokens/,
    ],
    [
      'characters beyond ASCII',
      'key: open.get(name), text }',
      "key: open.get(name), text: text.replace(/[^\\n-~]/g, '') }",
      /characters of every length to the client, streamed/,
      /the text/,
    ],
    [
      'characters that come in halves',
      'key: open.get(name), text }',
      'key: open.get(name), text: String(Buffer.from(text)) }',
      /characters of every length to the client, streamed/,
      /the text/,
    ],
    [
      'the order of the tools',
      'tools.flatMap((tool)',
      'tools.toReversed().flatMap((tool)',
      /whole request/,
      /the order of the tools/,
    ],
    [
      'that a stream broke off',
      'close: () => []',
      "close: () => (isOver ? [] : [...[...open.keys()].flatMap(end), { type: 'finish', finish: { reason: 'stop' } }])",
      /breaks off/,
      /swallowed: the vendor broke off/,
    ],
    [
      "the vendor's error in a stream",
      "return [{ type: 'error', message: textIn(event, 'message') ?? '', code: '' }];",
      "return [...[...open.keys()].flatMap(end), { type: 'finish', finish: { reason: 'stop' } }];",
      /gives up in the middle/,
      /swallowed/,
    ],
    [
      'the end of a stream',
      "{ type: 'finish', finish: finishOf(member(delta, 'finish_reason')) },",
      '',
      /streamed/,
      /the end/,
    ],
    [
      'whole numbers of tokens',
      'const input = tokensIn(tokens.input_tokens);',
      'const input = tokensIn(tokens.input_tokens) + 0.25;',
      /count whole tokens/,
      /usage.input is 1207.25/,
    ],
    [
      "the client's secrets, to the vendor",
      "path: '/v2/chat'",
      "path: (_call, _offer, { headers }) => '/v2/chat?for='.concat(headers['user-agent'])",
      /nothing of the client's/,
      /leaked to the vendor/,
    ],
    [
      "the client's key, to the vendor",
      "path: '/v2/chat'",
      "path: (_call, _offer, { headers }) => '/v2/chat?for='.concat(encodeURIComponent(headers.authorization))",
      /nothing of the client's/,
      /leaked to the vendor: the client's key/,
    ],
    ['a tool', 'tools.flatMap((tool)', 'tools.slice(0, 1).flatMap((tool)', /whole request/, /the tool get_time/],
    [
      'the name of the model',
      'return given({\n    model,',
      "return given({\n    model: 'maple-large',",
      /name the model/,
      /the model vendor-name/,
    ],
    [
      'a field that it reads and does not send',
      'seed: sampling.seed',
      'seed: sampling.seed && undefined',
      /everything that a request has/,
      /neither sent nor named as dropped: seed/,
    ],
  ],
  // A style with clients.
  oak: [
    [
      'the id of a tool call',
      '{ ref: id, tool: name',
      "{ ref: '', tool: name",
      /tool calls/,
      /the id of the tool call/,
    ],
    [
      'the id of a tool result',
      "type: 'toolResult', id: idOf(result)",
      "type: 'toolResult', id: String(blocks.length)",
      /whole request/,
      /of the tool result/,
    ],
    ['the reason of the end', "length: 'limit'", "length: 'done'", /became too long/, /the end and its reason/],
    [
      'the number of tokens, by doubling it',
      'in: input, out: output',
      'in: input, out: 2 * output',
      /read a text/,
      /the output tokens/,
    ],
    [
      'characters beyond ASCII',
      'event({ [name]: part.text })',
      "event({ [name]: part.text.replace(/[^\\n-~]/g, '') })",
      /characters of every length, streamed/,
      /the text/,
    ],
    [
      'characters that come in halves',
      'event({ [name]: part.text })',
      'event({ [name]: String(Buffer.from(part.text)) })',
      /characters of every length, streamed/,
      /the text/,
    ],
    [
      'the order of the tools',
      "tools: fields.each('tools').map(toolOf)",
      "tools: fields.each('tools').map(toolOf).reverse()",
      /whole request/,
      /the order of the tools/,
    ],
    [
      'that a stream broke off',
      'fail: ({ message, code }) => event({ error: { message, code } })',
      "fail: () => event({ model: as.model, ended: 'done', tokens })",
      /breaks off/,
      /swallowed/,
    ],
    [
      'an error in the middle of a stream',
      'fail: ({ message, code }) => event({ error: { message, code } })',
      "fail: () => ''",
      /gives up in the middle/,
      /swallowed/,
    ],
    [
      'the end of a stream',
      'return event({ model: as.model, ended: endOf(part.finish), tokens });',
      "return '';",
      /streamed/,
      /the end and its reason/,
    ],
    [
      'whole numbers of tokens',
      'in: input, out: output',
      'in: input * 1.1, out: output',
      /read a text/,
      /is not a whole number/,
    ],
    ['a refusal', "refusal: 'declined' };", '};', /a refusal, streamed/, /the refusal|the text/],
    [
      'a tool',
      "tools: fields.each('tools').map(toolOf)",
      "tools: fields.each('tools').map(toolOf).slice(0, 1)",
      /whole request/,
      /the tool get_time/,
    ],
    [
      'the name of the model',
      'return event({ model: as.model,',
      "return event({ model: 'oak',",
      /streamed/,
      /the name of the model/,
    ],
  ],
  // Chat, at another vendor.
  fir: [
    [
      'the ids of tool results',
      'request: ({ user, ...body }) =>',
      'request: ({ user, messages: all, ...rest }, _offer, _files, _warnings, messages = all.map(({ tool_call_id: _, ...message }) => message), body = { ...rest, messages }) =>',
      /whole request/,
      /the id call_weather1 of the tool result/,
    ],
    [
      'the reason of the end',
      "data: frame.toString('utf8', 4)",
      "data: frame.toString('utf8', 4).replace('\"length\"', '\"stop\"')",
      /became too long/,
      /the end and its reason/,
    ],
    [
      'the number of tokens, by doubling it',
      "data: frame.toString('utf8', 4)",
      "data: frame.toString('utf8', 4).replace(/(?<=completion_tokens\":)\\d+/, (count) => 2 * count)",
      /to the client, streamed/,
      /the output tokens/,
    ],
    [
      'characters beyond ASCII',
      "data: frame.toString('utf8', 4)",
      "data: frame.toString('latin1', 4)",
      /characters of every length to the client, streamed/,
      /the text/,
    ],
    [
      'characters of the request',
      'request: ({ user, ...body }) =>',
      'request: ({ user, messages: all, ...rest }, _offer, _files, _warnings, messages = JSON.parse(JSON.stringify(all).replace(/[^ -~]/g, "?")), body = { ...rest, messages }) =>',
      /whole request/,
      /the system text/,
    ],
    [
      'the order of the tools',
      'request: ({ user, ...body }) =>',
      'request: ({ user, tools: all, ...rest }, _offer, _files, _warnings, tools = all?.toReversed(), body = { ...rest, tools }) =>',
      /whole request/,
      /the order of the tools/,
    ],
    [
      'a tool',
      'request: ({ user, ...body }) =>',
      'request: ({ user, tools: all, ...rest }, _offer, _files, _warnings, tools = all?.slice(0, 1), body = { ...rest, tools }) =>',
      /whole request/,
      /the tool get_time/,
    ],
    [
      'that a stream broke off',
      "data: frame.toString('utf8', 4)",
      'data: frame.toString(\'utf8\', 4).replace(\'"finish_reason":null\', \'"finish_reason":"stop"\')',
      /breaks off/,
      /swallowed/,
    ],
    [
      "the vendor's error in a stream",
      "({ data: frame.toString('utf8', 4) })",
      "({ data: frame.includes('\"error\"') ? '[DONE]' : frame.toString('utf8', 4).replace('\"finish_reason\":null', '\"finish_reason\":\"stop\"') })",
      /gives up in the middle/,
      /swallowed/,
    ],
    [
      'the end of a stream',
      "({ data: frame.toString('utf8', 4) })",
      '(/\\[DONE\\]|"finish_reason":"/.test(String(frame)) ? undefined : { data: frame.toString(\'utf8\', 4) })',
      /streamed/,
      /the end and its reason/,
    ],
    [
      'whole numbers of tokens',
      "data: frame.toString('utf8', 4)",
      "data: frame.toString('utf8', 4).replace(/(?<=completion_tokens\":)\\d+/, '$&.5')",
      /to the client, streamed/,
      /is not a whole number|the output tokens/,
    ],
    [
      "the client's key, to the vendor",
      'headers: (channel) => credentials(channel)',
      "headers: (channel, _call, caller) => ({ ...credentials(channel), 'x-for': caller?.headers.authorization ?? '-' })",
      /nothing of the client's/,
      /leaked to the vendor: the client's key/,
    ],
    [
      "the client's headers, to the vendor",
      'headers: (channel) => credentials(channel)',
      "headers: (channel, _call, caller) => ({ ...credentials(channel), cookie: caller?.headers.cookie ?? '-' })",
      /nothing of the client's/,
      /leaked to the vendor: a header/,
    ],
    [
      'a wrong key, by showing it to the client',
      'status === 420 ?',
      "status === 401 ? 'relay' : status === 420 ?",
      /never what is between us|asks another channel/,
      /401/,
    ],
    [
      'a field of the request',
      'request: ({ user, ...body }) =>',
      'request: ({ user, stop: _, ...body }) =>',
      /whole request/,
      /the stop sequence/,
    ],
  ],
  // A vendor with a server of its own in between.
  juniper: [
    [
      'that the client has left',
      'pipeline(answer, response, () => {});',
      "answer.on('error', () => response.destroy()).pipe(response);",
      /end at the vendor when the client leaves/,
      /ignored: the client has left, and the call goes on at the vendor/,
    ],
    [
      'that a stream broke off',
      'pipeline(answer, response, () => {});',
      "answer.on('error', () => response.end('data: [DONE]\\n\\n')).on('end', () => response.end('data: [DONE]\\n\\n')).pipe(response, { end: false });",
      /breaks off/,
      /swallowed/,
    ],
  ],
};

describe('the kit, installed from the package', () => {
  let packed: Packed;
  let dir: string;
  before(async () => {
    packed = await packTurnpike();
    dir = packed.install();
    for (const name of Object.keys(PLUGINS))
      for (const file of [`${name}.mjs`, `${name}.test.mjs`])
        copyFileSync(new URL(`../authors/${file}`, import.meta.url), join(dir, file));
  });
  after(() => packed.remove());

  for (const [turn, [name, all]] of Object.entries(PLUGINS).entries()) {
    const faults = some(all, turn);
    describe(`tests the plugin ${name}`, () => {
      let runs: ReadonlyMap<string, Tested>;
      before(async () => {
        const source = readFileSync(join(dir, `${name}.mjs`), 'utf8');
        const test = readFileSync(join(dir, `${name}.test.mjs`), 'utf8');
        for (const [i, [, from, to]] of faults.entries()) {
          assert.equal(source.split(from).length, 2, `there is one place for the fault: ${from}`);
          writeFileSync(
            join(dir, `${name}-${i}.mjs`),
            source.replace(from, () => to),
          );
          writeFileSync(join(dir, `${name}-${i}.test.mjs`), test.replace(`./${name}.mjs`, `./${name}-${i}.mjs`));
        }
        runs = await testedTogether(dir, [name, ...faults.map((_, i) => `${name}-${i}`)]);
      });

      it('and finds nothing in it as it is', () => {
        const { passed, failures, output } = runs.get(name)!;
        assert.deepEqual(failures, [], output);
        assert.ok(passed >= 15, output);
      });

      for (const [i, [loses, , , finds, says]] of faults.entries()) {
        it(`and finds that it loses ${loses}`, (t) => {
          const { failures, output } = runs.get(`${name}-${i}`)!;
          const found = failures.find((failure) => finds.test(failure.test) && says.test(failure.says));
          assert.ok(
            found !== undefined,
            `${failures.map((failure) => `${failure.test}: ${failure.says}`).join('\n')}\n${failures.length === 0 ? output : ''}`,
          );
          t.diagnostic(`found by "${found.test}"`);
        });
      }
    });
  }
});
