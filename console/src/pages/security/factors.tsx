/** Second factors: authenticator app, passkey, and the validity of the last confirmation. */
import { Divider, Stack, Text } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import { CurrentCheck } from './current-check.tsx';
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
