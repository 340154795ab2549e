/** The style `my-plugin` does what every style with clients must do. */
import { clientContract, type Heard } from 'turnpike/kit';
import plugin from './index.ts';

/** An answer of this style, as its clients read it. */
interface Answer {
  readonly text?: string;
  readonly model?: string;
  readonly ended?: string;
  readonly tokens?: { readonly input: number; readonly output: number } | null;
  readonly error?: { readonly message: string };
}

const ENDS: Readonly<Record<string, Heard['end']>> = { done: 'stop', limit: 'length', refused: 'refusal' };

function heard({ text = '', model = '', ended = '', tokens, error }: Answer): Heard {
  const usage = tokens ?? undefined;
  return { model, text, refusal: '', reasoning: '', calls: [], end: ENDS[ended], usage, error: error?.message };
}

clientContract(plugin, {
  name: 'my-plugin',
  // Remove the entries that your style supports.
  lacks: ['tools', 'reasoning', 'cached'],
  request: ({ model, stream, system, turns, maxTokens, temperature, stop }) => ({
    path: '/v1/my-plugin',
    body: {
      model,
      stream,
      system,
      turns: turns.flatMap((turn) => {
        if ('user' in turn) return [{ from: 'user', text: turn.user }];
        return 'assistant' in turn ? [{ from: 'model', text: turn.assistant }] : [];
      }),
      limit: maxTokens,
      temperature,
      stop,
    },
  }),
  read: (body) => heard(body),
  readStream(stream) {
    const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Answer);
    const text = events.map((event) => event.text ?? '').join('');
    return heard({ ...Object.assign({}, ...events), text });
  },
});
