/** The estimate before a call: cost, translation warnings, or the refusal. */
import { Stack } from '@mantine/core';
import { CallFailureNote } from '../../parts/call-failure-note.tsx';
import { Fact } from '../../parts/facts.tsx';
import { TranslationWarnings } from '../../parts/loss-notes.tsx';
import { Muted } from '../../parts/plain.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import type { Estimate } from './use-estimate.ts';

/** The estimate; undefined while unknown. */
export function BeforeView({ estimate }: { readonly estimate: Estimate | undefined }) {
  const text = useText(ANSWER_TEXT);
  const format = useFormat();
  if (estimate === undefined) return <Muted>{text.nothing}</Muted>;
  const { refusal, at_most: most, may_grow: grows, input_estimate: input, would_go_to: places } = estimate;
  if (refusal !== null)
    return (
      <CallFailureNote
        color="orange"
        title={text.wouldBeRefused}
        refused={{ ...refusal, channel: '', requestId: '', retryAfter: undefined }}
      />
    );
  return (
    <Stack gap="sm">
      <Muted>{text.nothing}</Muted>
      <TranslationWarnings losses={estimate.losses} before />
      <dl className="pg-facts">
        {most !== null && (
          <Fact name={grows && most > 0 ? text.atFirst : text.atMost}>
            {most === 0 ? text.free : <Money units={most} />}
          </Fact>
        )}
        {input !== null && <Fact name={text.inputTokens}>{text.tokensOf(format.number(input))}</Fact>}
        {places !== null && places.length > 0 && (
          <Fact name={text.goesTo}>
            {places.map(({ channel, asked }, index) => (
              <span key={channel}>
                {index > 0 && ', '}
                {channel}
                {!asked && ` (${text.passedOver})`}
              </span>
            ))}
          </Fact>
        )}
      </dl>
    </Stack>
  );
}
