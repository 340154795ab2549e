/** The details of an event (top-up, sign-in, administrator change), and of a request that is not a call. */
import { Stack, Text } from '@mantine/core';
import { Section } from '../../parts/page.tsx';
import { Copy, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { DETAIL } from './detail-text.ts';
import { FactList, Links } from './facts.tsx';
import { factsOf, kindOf, type Line } from './line.ts';
import { LineState } from './lines.tsx';
import { useReason } from './reasons.ts';
import type { View } from './view.ts';

/** The details. */
export function EventDetails({ line, view }: { readonly line: Line; readonly view: View }) {
  const text = useText(DETAIL);
  const format = useFormat();
  const kind = kindOf(line);
  const facts = factsOf(line);
  const reason = useReason()(facts);
  const links: (readonly [string, string])[] = [];
  if (view.admin && (line.username ?? '') !== '')
    links.push([text.links.person, `/logs?${new URLSearchParams({ whose: 'all', username: line.username ?? '' })}`]);
  if (kind === 'login') links.push([text.links.security, '/security']);
  else if (kind !== 'request') links.push([text.links.wallet, '/wallet']);
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {kind === 'request' ? `${facts.route}${reason === '' ? '' : `: ${reason}`}` : line.content}
      </Text>
      <Section title={text.facts.happened}>
        <FactList
          facts={[
            [text.facts.when, format.moment(line.created_at)],
            [text.facts.state, <LineState key="state" line={line} />],
            [text.facts.status, facts.status === 0 ? undefined : `${facts.status}`],
            [text.facts.times, line.times > 1 ? text.facts.timesOf(format.number(line.times)) : undefined],
            [text.facts.key, line.token_name || undefined],
            [text.facts.person, view.admin ? line.username : undefined],
            [text.facts.amount, line.quota === 0 ? undefined : <Money key="money" units={line.quota} sign />],
            [text.facts.ip, (line.ip ?? '') === '' ? undefined : line.ip],
            [text.facts.id, <Copy key="id" value={line.request_id} what={text.facts.id} />],
          ]}
        />
      </Section>
      {links.length > 0 && <Links links={links} />}
    </Stack>
  );
}
