/** Empty, error and loading states. */
import { Alert, Button, Center, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Refusal } from '../api/client.ts';
import { isAdmin, useSelf } from '../api/hooks.ts';
import { sentenceOf } from '../api/refusals.ts';
import { IconAlertTriangle } from '../icons.ts';
import { texts } from '../text.ts';
import { PlainButton, Section } from './page.tsx';
import { useLanguage } from './values.tsx';

const useText = texts({
  failed: ['Loading failed', '加载失败'],
  again: ['Try again', '重试'],
  noVendor: ['No vendor is connected yet', '还没有接入供应商'],
  admin: [
    'To call models, set the key of a vendor channel in gateway.yaml.',
    '如需调用模型，请在 gateway.yaml 中设置供应商渠道的密钥。',
  ],
  member: ['An administrator must connect a vendor first.', '需要管理员先接入供应商。'],
});

/** An empty state with the next step. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <Center py="xl" px="md">
      <Stack align="center" gap="xs" maw="32rem">
        <Title order={2} size="h4" ta="center">
          {title}
        </Title>
        {children !== undefined && (
          <Text size="sm" c="dimmed" ta="center" component="div">
            {children}
          </Text>
        )}
        {action !== undefined && <Group mt="xs">{action}</Group>}
      </Stack>
    </Center>
  );
}

/** A refusal in place of the content. */
export function Failure({ error, again }: { readonly error: unknown; again?(): void }) {
  const text = useText();
  const language = useLanguage();
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={text.failed} m="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{sentenceOf(error, language)}</Text>
        {again !== undefined && !(error instanceof Refusal && error.status === 403) && (
          <PlainButton onClick={again}>{text.again}</PlainButton>
        )}
      </Stack>
    </Alert>
  );
}

/** The content once loaded; until then a skeleton, or the error. */
export function Loaded<T>({
  query,
  height = 120,
  children,
}: {
  readonly query: UseQueryResult<T, Refusal>;
  /** The skeleton. */
  readonly height?: number;
  children(data: T): ReactNode;
}) {
  const text = useText();
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <Failure error={query.error} again={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label={text.words.loading} role="status" />;
}

/** Shown in place of models. */
export function NoModels() {
  const text = useText();
  const admin = isAdmin(useSelf());
  return (
    <Section>
      <Empty
        title={text.noVendor}
        action={
          admin && (
            <Button component={Link} href="/vendors">
              {text.words.openVendors}
            </Button>
          )
        }
      >
        {admin ? text.admin : text.member}
      </Empty>
    </Section>
  );
}
