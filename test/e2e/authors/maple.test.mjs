/** The vendor `maple` does what every vendor must do. */
import { vendorContract } from 'turnpike/kit';
import plugin from './maple.mjs';

const REASONS = { stop: 'COMPLETE', tools: 'TOOL_CALL', length: 'MAX_TOKENS', refusal: 'ERROR_TOXIC' };
const usageOf = ({ input, output, cached }) => ({
  tokens: { input_tokens: input, output_tokens: output },
  cached_tokens: cached,
});
const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const said = (message) => ({ delta: { message } });

/** How Maple answers. */
const speech = {
  whole: ({ reasoning, text, calls, end, usage }) => ({
    id: 'answer-1',
    finish_reason: REASONS[end],
    message: {
      role: 'assistant',
      content: [
        ...(reasoning ? [{ type: 'thinking', thinking: reasoning.join('') }] : []),
        ...(text ? [{ type: 'text', text: text.join('') }] : []),
      ],
      ...(calls && {
        tool_calls: calls.map(({ id, name, pieces }) => ({
          id,
          type: 'function',
          function: { name, arguments: pieces.join('') },
        })),
      }),
    },
    usage: usageOf(usage),
  }),
  events({ reasoning, text, calls = [], end, usage }) {
    const contents = [
      ['thinking', reasoning],
      ['text', text],
    ].filter(([, pieces]) => pieces !== undefined);
    return [
      event('message-start', { id: 'answer-1', ...said({ role: 'assistant' }) }),
      ...contents.flatMap(([type, pieces], index) => [
        event('content-start', { index, ...said({ content: { type, [type]: '' } }) }),
        ...pieces.map((piece) => event('content-delta', { index, ...said({ content: { [type]: piece } }) })),
        event('content-end', { index }),
      ]),
      ...calls.flatMap(({ id, name, pieces }, index) => [
        event('tool-call-start', {
          index,
          ...said({ tool_calls: { id, type: 'function', function: { name, arguments: '' } } }),
        }),
        ...pieces.map((piece) =>
          event('tool-call-delta', { index, ...said({ tool_calls: { function: { arguments: piece } } }) }),
        ),
        event('tool-call-end', { index }),
      ]),
      event('message-end', { delta: { finish_reason: REASONS[end], usage: usageOf(usage) } }),
    ];
  },
  error: (_status, message) => ({ id: 'error-1', message }),
  errorEvent: (message) => event('error', { message }),
};

vendorContract(plugin, { name: 'maple', speeches: { maple: speech } });
