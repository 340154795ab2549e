/** The style `oak` does what every style with clients must do. */
import { clientContract } from 'turnpike/kit';
import plugin from './oak.mjs';

const ENDS = { done: 'stop', uses: 'tools', limit: 'length', declined: 'refusal' };

/** What a client of Oak reads in a whole answer. */
function read({ model = '', say = '', thought = '', declined = '', uses = [], ended, tokens, error }) {
  return {
    model,
    text: say,
    reasoning: thought,
    refusal: declined,
    calls: uses.map(({ ref, tool, with: input }) => ({ id: ref, name: tool, input })),
    end: ENDS[ended],
    usage: tokens && { input: tokens.in, output: tokens.out, cached: tokens.cached },
    error: error?.message,
  };
}

clientContract(plugin, {
  name: 'oak',
  request: ({ model, stream, system, turns, tools, maxTokens, temperature, stop }) => ({
    path: '/v1/oak',
    body: {
      model,
      stream,
      system,
      dialogue: turns.map((turn) => {
        if ('user' in turn) return { from: 'user', say: turn.user };
        if ('results' in turn)
          return { from: 'user', returned: turn.results.map(({ id, text }) => ({ ref: id, say: text })) };
        return {
          from: 'model',
          say: turn.assistant,
          uses: turn.calls.map(({ id, name, input }) => ({ ref: id, tool: name, with: input })),
        };
      }),
      tools: tools.map(({ name, description, schema }) => ({ name, about: description, takes: schema })),
      limit: maxTokens,
      heat: temperature,
      until: stop,
    },
  }),
  read,
  readStream(stream) {
    const all = { say: '', thought: '', declined: '', uses: [] };
    for (const [, data] of stream.matchAll(/^data: (.*)$/gm)) {
      const { use, ...event } = JSON.parse(data);
      if (use !== undefined) all.uses.push(use);
      for (const [name, value] of Object.entries(event))
        all[name] = ['say', 'thought', 'declined'].includes(name) ? all[name] + value : value;
    }
    return read(all);
  },
});
