/** Second factors: authenticator app, passkey, and the validity of the last confirmation. */
import { Divider, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { State } from '../../parts/values.tsx';
import { askForVerification } from '../../shell/verify-dialog.tsx';
import { useText } from '../../text.ts';
import { Item } from './item.tsx';
import { Passkey } from './passkey.tsx';
import { TEXT } from './text.ts';
import { TwoFactor } from './two-factor.tsx';

/** A section of the page. */
export function Factors() {
  const { factors: text } = useText(TEXT);
  const totp = useApi('GET /api/user/2fa/status', undefined, { retry: false });
  const passkey = useApi('GET /api/user/passkey', undefined, { retry: false });
  const isOff = totp.error?.code === 'not_available';
  return (
    <Section title={text.title} about={text.about}>
      {isOff ? (
        <Text size="sm">{text.unavailable}</Text>
      ) : (
        <Loaded query={totp}>
          {(codes) => (
            <Loaded query={passkey}>
              {(key) => (
                <Stack gap="sm">
                  {!codes.enabled && !key.enabled && (
                    <Text size="sm" c="orange">
                      {text.missing}
                    </Text>
                  )}
                  <TwoFactor status={codes} isFirst={!key.enabled} />
                  <Divider />
                  <Passkey passkey={key} />
                  {(codes.enabled || key.enabled) && (
                    <>
                      <Divider />
                      <CurrentCheck />
                    </>
                  )}
                </Stack>
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Section>
  );
}

/** A row of the section. */
function CurrentCheck() {
  const { check: text } = useText(TEXT);
  const { data } = useApi('GET /api/verify/status', undefined, { staleTime: 0 });
  const left = useSecondsUntil(data?.expires_at);
  return (
    <Item
      name={text.name}
      state={left > 0 && <State tone="good">{text.valid}</State>}
      actions={left === 0 && <PlainButton onClick={() => void askForVerification()}>{text.now}</PlainButton>}
    >
      <span className="number" style={{ whiteSpace: 'normal' }}>
        {left > 0 ? text.left(Math.floor(left / 60), left % 60) : text.none}
      </span>
    </Item>
  );
}

/** Counts down to a moment; 0 when it has passed, or without one. */
function useSecondsUntil(unix: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const left = unix === undefined ? 0 : Math.max(0, Math.ceil(unix - now / 1_000));
  const runs = left > 0;
  useEffect(() => {
    setNow(Date.now());
    if (!runs) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return left;
}
