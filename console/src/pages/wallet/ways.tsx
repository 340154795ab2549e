/** The payment methods, and the choice between them. */
import { Group, Radio, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TopUpInfo } from '../../api/operations.ts';
import type { PaymentMethod } from './use-paying.ts';

/** The purchase options from `/api`. */
export type Offer = TopUpInfo;

/** A payment method. */
export interface OfferedMethod extends PaymentMethod {
  readonly key: string;
  readonly name: string;
}

/** All methods in the order of the gateway. */
export function methodsOf({ pay_methods }: Offer): readonly OfferedMethod[] {
  return pay_methods.map(({ name, type, provider }) => ({ key: `${provider} ${type}`, name, provider, method: type }));
}

/** A product with a fixed price. */
export interface Product {
  readonly productId: string;
  readonly name: string;
  readonly price: number;
  readonly currency: string;
  readonly quota: number;
}

/** The products; unreadable data counts as none. */
export function productsOf({ creem_products }: Offer): readonly Product[] {
  try {
    const list: unknown = JSON.parse(creem_products);
    return Array.isArray(list) ? (list as Product[]) : [];
  } catch {
    return [];
  }
}

/** The choice. `about`: a note for each method. */
export function MethodChoice<W extends OfferedMethod>({
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
  about(method: W): ReactNode;
}) {
  return (
    <Radio.Group label={label} value={value} onChange={onChange}>
      <Stack gap={6} mt={4}>
        {ways.map((method) => (
          <Group key={method.key} justify="space-between" gap="xs">
            <Radio value={method.key} label={method.name} />
            <Text size="sm" c="dimmed" component="div" className="number">
              {about(method)}
            </Text>
          </Group>
        ))}
      </Stack>
    </Radio.Group>
  );
}
