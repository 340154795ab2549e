/** How to change the price of a model: lines of gateway.yaml to copy. */
import { Button, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { Coded } from '../../parts/coded.tsx';
import { Section } from '../../parts/page.tsx';
import { Snippet } from '../../parts/values.tsx';
import { isRoot, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { priceLinesOf, SOLD, type Sold } from './price-lines.ts';
import type { Priced } from './priced.ts';
import { TEXT } from './text.ts';

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
        <Text size="sm" c="dimmed">
          {text.after}
        </Text>
        {mayConfigure && (
          <Button component={Link} href="/config" variant="default" style={{ alignSelf: 'flex-start' }}>
            {text.toConfig}
          </Button>
        )}
      </Stack>
    </Section>
  );
}
