/** How to change the price of a model: lines of gateway.yaml to copy. */
import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { Coded } from '../../parts/coded.tsx';
import { Section } from '../../parts/page.tsx';
import { LinkButton, Muted } from '../../parts/plain.tsx';
import { Snippet } from '../../parts/values.tsx';
import { yamlName } from '../../parts/yaml-name.ts';
import { isRoot, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import type { Priced } from './priced.ts';
import { TEXT } from './text.ts';

/** Billing units of models. */
const SOLD = ['tokens', 'images', 'speech', 'sound', 'free'] as const;
/** A value of `SOLD`. */
type Sold = (typeof SOLD)[number];

const PRICES: Readonly<Record<Exclude<Sold, 'free'>, string>> = {
  tokens: '{ input: 1, output: 4 }',
  images: '{ perImage: 0.04 }',
  speech: '{ characters: 15 }',
  sound: '{ perSecond: 0.0001 }',
};

/** The lines. `comment`: the unit of the numbers, as a YAML comment. `channel`: the channel that serves the model. */
function priceLinesOf(model: string, sold: Sold, comment: Readonly<Record<Sold, string>>, channel: string): string {
  const name = yamlName(model);
  if (sold === 'free') return `models:\n  ${name}: { from: [${yamlName(channel)}], free: true }   # ${comment.free}`;
  return `prices:\n  ${name}: ${PRICES[sold]}   # ${comment[sold]}`;
}

/** The lines for the billing unit of the model. */
export function SetPrice({ model }: { readonly model: Priced }) {
  const text = useText(TEXT);
  const mayConfigure = isRoot(useSelf());
  const [sold, setSold] = useState<Sold>('tokens');
  return (
    <Section title={model.unpriced ? text.setTitle : text.changeTitle} about={<Coded>{text.setAbout}</Coded>}>
      <Stack gap="sm" align="stretch">
        <SegmentedControl
          size="xs"
          aria-label={text.sells}
          value={sold}
          onChange={(next) => setSold(next as Sold)}
          data={SOLD.map((each) => ({ value: each, label: text.kinds[each] }))}
          className="price-kinds"
        />
        <Snippet
          label={text.yaml}
          code={priceLinesOf(model.name, sold, text.comments, model.channels[0]?.channel ?? 'demo')}
        />
        <Muted>{text.after}</Muted>
        {mayConfigure && (
          <LinkButton href="/config" style={{ alignSelf: 'flex-start' }}>
            {text.toConfig}
          </LinkButton>
        )}
      </Stack>
    </Section>
  );
}
