/** The ways to pay that are offered, and the choice between them. */
import { Group, Radio, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TopUpInfo } from '../../api/operations.ts';
import type { Way } from './begin.ts';

/** What may be bought, and how. */
export type Offer = TopUpInfo;

/** A way to pay, as it is offered. */
export interface OfferedWay extends Way {
  readonly key: string;
  readonly name: string;
}

/** All of them, in the order of the gateway. */
export function waysOf({ pay_methods }: Offer): readonly OfferedWay[] {
  return pay_methods.map(({ name, type, provider }) => ({ key: `${provider} ${type}`, name, provider, method: type }));
}

/** Something sold at a fixed price. */
export interface Product {
  readonly productId: string;
  readonly name: string;
  readonly price: number;
  readonly currency: string;
  readonly quota: number;
}

/** Those that there are; what cannot be read is none. */
export function productsOf({ creem_products }: Offer): readonly Product[] {
  try {
    const list: unknown = JSON.parse(creem_products);
    return Array.isArray(list) ? (list as Product[]) : [];
  } catch {
    return [];
  }
}

/** The choice. `about`: what is said beside each. */
export function WayChoice<W extends OfferedWay>({
  label,
  ways,
  value,
  onChange,
  about,
}: {
  readonly label: string;
  readonly ways: readonly W[];
  readonly value: string;
  onChange(key: string): void;
  about(way: W): ReactNode;
}) {
  return (
    <Radio.Group label={label} value={value} onChange={onChange}>
      <Stack gap={6} mt={4}>
        {ways.map((way) => (
          <Group key={way.key} justify="space-between" gap="xs">
            <Radio value={way.key} label={way.name} />
            <Text size="sm" c="dimmed" component="div" className="number">
              {about(way)}
            </Text>
          </Group>
        ))}
      </Stack>
    </Radio.Group>
  );
}
