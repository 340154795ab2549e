/** OpenTelemetry: a span for each call and each upstream attempt, and metrics of tokens and durations, by the GenAI conventions. */
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Content, definePlugin, type Exchange, type Known, type Parts, slot } from '../../core/plugin.ts';
import { AnswerCollector } from '../../core/translation/index.ts';
import { MOST, promptOf } from './content.ts';
import type { Ended, Recorder, Traced } from './recorder.ts';
import { telemetrySection } from './section.ts';

const tracedCalls = slot<Traced>('telemetry.call');

/** The state of a call, created if it has none. */
function tracedOf(x: Exchange): Traced {
  let traced = tracedCalls.get(x);
  if (traced === undefined) {
    traced = { attempts: new Map() };
    tracedCalls.set(x, traced);
  }
  return traced;
}

export default definePlugin({
  name: 'telemetry',
  api: 2,
  sections: { telemetry: telemetrySection },
  wants: [Ledger],
  create(host, { telemetry: section }): Parts {
    // Without its section, it has no part in any call, and its libraries are not loaded.
    if (section.endpoint === '') return {};
    if (!URL.canParse(section.endpoint)) host.problem(['telemetry', 'endpoint'], 'is not a URL');
    for (const value of Object.values(section.headers)) host.log.hide(value);
    let recorder: Recorder | undefined;
    /** Calls that have ended, until the event loop is free for them: their clients do not wait. */
    let ended: Ended[] = [];

    function recordAll(): void {
      const calls = ended;
      ended = [];
      for (const call of calls) recorder?.end(call);
    }

    async function see(x: Known, content: Content): Promise<undefined> {
      tracedOf(x).prompt = await promptOf(content);
    }

    return {
      ...(section.content && {
        inspect: (x: Known, content: Content) => (content.purpose === 'call' ? see(x, content) : undefined),
        revise(x: Known) {
          const answer = new AnswerCollector(MOST);
          tracedOf(x).answer = answer;
          return answer;
        },
      }),
      ...(section.traces &&
        section.context.forward && {
          admit(x: Known) {
            x.addUpstreamHeaders((attempt) => recorder?.contextOf(x, attempt, tracedOf(x)) ?? {});
          },
        }),
      settle(x) {
        const ledger = host.find(Ledger);
        const cost = ledger && Number(ledger.charged(x)) / Number(MICRO) / ledger.perUnit;
        if (ended.length === 0) setImmediate(recordAll);
        ended.push({ x, endedMs: host.clock.now(), traced: tracedCalls.get(x), cost });
        return undefined;
      },
      report() {
        const what = [...(section.traces ? ['traces'] : []), ...(section.metrics ? ['metrics'] : [])].join(' and ');
        const about = `${what} are sent to ${new URL(section.endpoint).origin}`;
        return section.content ? [`${about}, with prompts and answers`] : [about];
      },
      async start() {
        const { createRecorder } = await import('./recorder.ts');
        recorder = createRecorder(section, host);
      },
      async stop() {
        recordAll();
        await recorder?.stop();
      },
    };
  },
});
