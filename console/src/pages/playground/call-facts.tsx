/** The figures of a call: timing, usage, cost, channel. */
import { useApi } from '../../api/hooks.ts';
import { Fact } from '../../parts/facts.tsx';
import { TranslationWarnings } from '../../parts/loss-notes.tsx';
import { RequestLink } from '../../parts/request-link.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { isAdmin, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import type { CallState } from './calling.ts';

const AGAIN_MS = 400;
const PATIENCE = 20;

/** The usage record of the call; undefined until written. */
function useUsageRecord({ requestId, phase }: CallState) {
  const isOver = phase === 'done' || phase === 'failed' || phase === 'stopped';
  const logged = useApi(
    'GET /api/log/self/detail/{request_id}',
    { params: { request_id: requestId } },
    {
      enabled: isOver && requestId !== '',
      retry: false,
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: ({ state }) =>
        state.data !== undefined || state.errorUpdateCount >= PATIENCE ? false : AGAIN_MS,
    },
  );
  return { detail: logged.data, isReading: isOver && logged.data === undefined && logged.failureCount < PATIENCE };
}

/** The figures and the translation warnings. */
export function CallFacts({ call }: { readonly call: CallState }) {
  const text = useText(ANSWER_TEXT);
  const format = useFormat();
  const showsChannel = isAdmin(useSelf());
  const { detail, isReading } = useUsageRecord(call);
  const { usage } = call.answer;
  const input = usage?.input ?? detail?.usage.input;
  const output = usage?.output ?? detail?.usage.output;
  const cached = usage?.cached ?? detail?.usage.cache_read ?? 0;
  const thoughts = usage?.thoughts ?? detail?.usage.reasoning ?? 0;
  const cost = call.cost ?? detail?.quota;
  const isOver = call.totalMs !== undefined;
  // The header has the warnings known when the answer began; the usage record has all.
  const losses = detail === undefined || detail.translation.length === 0 ? call.losses : detail.translation;
  return (
    <>
      <TranslationWarnings losses={losses} />
      <dl className="pg-facts">
        {call.firstByteMs !== undefined && <Fact name={text.facts.firstByte}>{format.duration(call.firstByteMs)}</Fact>}
        {call.totalMs !== undefined && <Fact name={text.facts.total}>{format.duration(call.totalMs)}</Fact>}
        {(input !== undefined || output !== undefined) && (
          <Fact name={text.facts.tokens}>
            {text.tokens(format.number(input ?? 0), format.number(output ?? 0))}
            {cached > 0 && ` · ${text.cached(format.number(cached))}`}
            {thoughts > 0 && ` · ${text.thought(format.number(thoughts))}`}
            {detail?.estimated === true && ` · ${text.estimated}`}
          </Fact>
        )}
        {isOver && call.requestId !== '' && (
          <Fact name={text.facts.cost}>
            {cost === undefined ? (
              isReading ? (
                text.counting
              ) : (
                text.unknown
              )
            ) : cost === 0 ? (
              call.phase === 'failed' ? (
                text.uncharged
              ) : (
                text.free
              )
            ) : (
              <Money units={cost} />
            )}
          </Fact>
        )}
        {showsChannel && call.channel !== '' && <Fact name={text.facts.channel}>{call.channel}</Fact>}
        {call.requestId !== '' && (
          <Fact name={text.facts.request}>
            <RequestLink id={call.requestId} />
          </Fact>
        )}
      </dl>
    </>
  );
}
