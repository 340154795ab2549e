/** What there is to say of an event: a top-up, a sign-in, something an administrator did. */
import { Stack, Text } from '@mantine/core';
import { Section } from '../../parts/page.tsx';
import { Copy, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { DETAIL } from './detail-text.ts';
import { FactList, Links } from './facts.tsx';
import { kindOf, type Line } from './line.ts';
import { LineState } from './lines.tsx';
import type { View } from './view.ts';

/** It. */
export function EventDetails({ line, view }: { readonly line: Line; readonly view: View }) {
  const text = useText(DETAIL);
  const format = useFormat();
  const kind = kindOf(line);
  const links: (readonly [string, string])[] = [];
  if (view.admin && (line.username ?? '') !== '')
    links.push([text.links.person, `/logs?${new URLSearchParams({ whose: 'all', username: line.username ?? '' })}`]);
  if (kind === 'login') links.push([text.links.security, '/security']);
  else links.push([text.links.wallet, '/wallet']);
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {line.content}
      </Text>
      <Section title={text.facts.happened}>
        <FactList
          facts={[
            [text.facts.when, format.moment(line.created_at)],
            [text.facts.state, <LineState key="state" line={line} />],
            [text.facts.person, view.admin ? line.username : undefined],
            [text.facts.amount, line.quota === 0 ? undefined : <Money key="money" units={line.quota} sign />],
            [text.facts.ip, (line.ip ?? '') === '' ? undefined : line.ip],
            [text.facts.id, <Copy key="id" value={line.request_id} what={text.facts.id} />],
          ]}
        />
      </Section>
      <Links links={links} />
    </Stack>
  );
}
