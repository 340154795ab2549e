/** Why a call failed or would fail: the cause, the next step, and the original message. */
import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isAdmin, useSelf } from '../api/hooks.ts';
import { useText } from '../text.ts';
import { type Cause, causeOf, type Refused, voiceOf } from './call-failure.ts';
import { FAILURE_TEXT } from './call-failure-text.ts';

type TargetPage = 'keys' | 'wallet' | 'models' | 'vendors' | 'prices';

/** The page of the next step; without one, it is the current page. */
const PLACES: Readonly<Partial<Record<Cause, TargetPage>>> = {
  key: 'keys',
  expired: 'keys',
  disabled: 'keys',
  scope: 'keys',
  address: 'keys',
  allowance: 'keys',
  balance: 'wallet',
  window: 'wallet',
  model: 'models',
};
/** The page for administrators who can solve the problem. */
const ADMIN_PLACES: Readonly<Partial<Record<Cause, TargetPage>>> = {
  price: 'prices',
  vendor: 'vendors',
  busy: 'vendors',
};

const USUAL_WAIT_S = 10;

/** The note. */
export function CallFailureNote({
  refused,
  title,
  color = 'red',
  children,
}: {
  readonly refused: Refused;
  readonly title: string;
  /** Orange: the call has not been made. */
  readonly color?: 'red' | 'orange';
  /** Further details. */
  readonly children?: ReactNode;
}) {
  const text = useText(FAILURE_TEXT);
  const self = useSelf();
  const cause = causeOf(refused);
  const place = PLACES[cause] ?? (isAdmin(self) ? ADMIN_PLACES[cause] : undefined);
  const { message, channel, retryAfter } = refused;
  return (
    <Alert color={color} icon={<IconAlertTriangle />} title={title} p="xs" data-cause={cause}>
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          {text.causes[cause]}
        </Text>
        <Text size="sm">
          {cause === 'limit' ? text.next.limit(retryAfter ?? USUAL_WAIT_S) : text.next[cause]}{' '}
          {place !== undefined && (
            <Anchor component={Link} href={`/${place}`} size="sm">
              {text.open[place]}
            </Anchor>
          )}
        </Text>
        {message !== '' && cause !== 'network' && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {text.voices[voiceOf(refused)](message, isAdmin(self) ? channel : '')}
          </Text>
        )}
        {children}
      </Stack>
    </Alert>
  );
}
