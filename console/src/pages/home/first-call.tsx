/** The first call: the command, waiting for the call, and its arrival. */
import { Alert, Anchor, Button, Group, Loader, Text } from '@mantine/core';
import { Link } from 'wouter';
import { GATEWAY } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { IconCheck, IconPlugConnected } from '../../icons.ts';
import { callHref } from '../../parts/links.tsx';
import { Muted } from '../../parts/page.tsx';
import { Money, Snippet } from '../../parts/values.tsx';
import { fillStep, type Recipe } from '../connect/recipe.ts';
import type { Calls, Line } from './calls.ts';
import type { FirstKey } from './facts.ts';
import { useText } from './text.ts';

const CURL = Object.values(
  import.meta.glob<Recipe>('../../../recipes/curl-chat.yaml', { eager: true, import: 'default' }),
)[0]?.steps[0];
const SOME_KEY = 'sk-…';

/** The command, with the key filled in if its secret is known. */
export function FirstCall({ calls, firstKey }: { readonly calls: Calls; readonly firstKey: FirstKey }) {
  const text = useText();
  const model = useFirstModel();
  const { key, text: secret } = firstKey;
  if (key === undefined) return <span>{text.callNoKey}</span>;
  return (
    <>
      <span>{secret === undefined ? text.callHidden(key.name) : text.callTodo}</span>
      {CURL !== undefined && (
        <Snippet
          label={text.steps.call}
          code={fillStep(
            CURL,
            { root: GATEWAY, base: `${GATEWAY}/v1`, key: secret ?? SOME_KEY, model, name: '' },
            navigator.userAgent.includes('Windows') ? 'powershell' : 'sh',
          )}
        />
      )}
      <Group gap="md">
        <Button
          component={Link}
          href={`/connect?key=${key.id}`}
          variant={secret === undefined ? 'filled' : 'default'}
          leftSection={<IconPlugConnected size={14} />}
        >
          {text.words.connectAClient}
        </Button>
        <Group gap={6} role="status">
          <Loader size={14} aria-hidden />
          <Muted>{text.waiting}</Muted>
        </Group>
      </Group>
      <div role="alert" className="news">
        {calls.refused !== undefined && <RefusedFirst line={calls.refused} />}
      </div>
    </>
  );
}

function RefusedFirst({ line }: { readonly line: Line }) {
  const text = useText();
  return (
    <Alert color="orange" p="xs">
      <Text size="sm">
        {text.refusedFirst} {[line.model_name, line.content].filter(Boolean).join(' · ')}{' '}
        <Anchor component={Link} href={callHref(line.request_id)} size="sm">
          {text.seeWhy}
        </Anchor>
      </Text>
    </Alert>
  );
}

/** The call has arrived. */
export function FirstArrived({ line }: { readonly line: Line }) {
  const text = useText();
  return (
    <Alert color="green" icon={<IconCheck />} title={text.arrived}>
      <Text size="sm">
        {text.arrivedAbout(line.model_name ?? '')}{' '}
        {line.quota === 0 ? (
          text.free
        ) : (
          <>
            {text.cost} <Money units={line.quota} />.
          </>
        )}{' '}
        <Anchor component={Link} href={callHref(line.request_id)} size="sm">
          {text.line}
        </Anchor>
      </Text>
    </Alert>
  );
}

/** The model of the first call: a chat model, a free one if possible. */
function useFirstModel(): string {
  const { data = [] } = useApi('GET /api/models/catalog', undefined, { staleTime: 60_000 });
  const talks = data.filter(
    ({ styles, purposes }) =>
      styles.some(({ name }) => name === 'chat') && (purposes === null || purposes.includes('chat')),
  );
  return (talks.find(({ free }) => free) ?? talks[0])?.name ?? 'demo';
}
