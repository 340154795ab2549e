/** The second step of a sign-in: an authenticator code or a backup code. */
import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { SecondStepRequired } from '../../api/operations.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { PlainButton, Small } from '../../parts/page.tsx';
import { CodeField } from '../../parts/secret-fields.tsx';
import { useLanguage } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { Frame, useAfterSignIn } from './frame.tsx';
import { TEXT } from './text.ts';

/** The answer of the first step. */
export type PendingSignIn = SecondStepRequired;

/** `half` undefined: the first step was an OAuth sign-in, and a cookie identifies it. */
export function SecondStep({
  half,
  onRestart,
}: {
  readonly half: PendingSignIn | undefined;
  onRestart(why?: string): void;
}) {
  const { second: text, words } = useText(TEXT);
  const language = useLanguage();
  const format = useFormat();
  const entered = useAfterSignIn();
  const [code, setCode] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const refusal = useFormRefusal('code');
  const body = half === undefined ? { code } : { code, flow_token: half.flow_token };
  const finish = useAction(() => call('POST /api/user/login/2fa', { body }), {
    done: entered,
    refused(why) {
      if (why.code === 'sign_in_expired') onRestart(sentenceOf(why, language));
      else refusal.refused(why);
      return true;
    },
  });
  return (
    <Frame title={text.title} about={half === undefined ? text.aboutElsewhere : text.about}>
      <RefusalForm refusal={refusal} onSubmit={() => finish.mutate()}>
        <CodeField ref={field} backup {...refusal.field('code', code, setCode)} />
        <Refused by={refusal} />
        <Button type="submit" size="sm" loading={finish.isPending} fullWidth>
          {words.continue}
        </Button>
        <PlainButton size="sm" fullWidth onClick={() => onRestart()}>
          {text.restart}
        </PlainButton>
        {half !== undefined && <Small ta="center">{text.until(format.time(half.expires_at))}</Small>}
      </RefusalForm>
    </Frame>
  );
}
