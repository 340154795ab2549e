/** Payments of all accounts: orders, redemption codes, plans. For administrators. */
import { Tabs } from '@mantine/core';
import { useAddress } from '../../parts/address.ts';
import { Page } from '../../parts/page.tsx';
import { Codes } from './codes.tsx';
import { Orders } from './orders.tsx';
import { Plans } from './plans.tsx';
import { useText } from './text.ts';

const TABS = ['orders', 'codes', 'plans'] as const;
/** Each tab has its own filters. */
const FILTERS = { q: '', state: '', provider: '', person: '', page: '1', open: '' } as const;

export default function PaymentsPage() {
  const text = useText();
  const [address, change] = useAddress({ tab: 'orders', ...FILTERS });
  const tab = TABS.find((name) => name === address.tab) ?? 'orders';
  return (
    <Page name="payments" about={text.about}>
      <Tabs value={tab} onChange={(next) => change({ ...FILTERS, tab: next ?? '' })} keepMounted={false}>
        <Tabs.List mb="md">
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {text.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="orders">
          <Orders address={address} onChange={change} />
        </Tabs.Panel>
        <Tabs.Panel value="codes">
          <Codes address={address} onChange={change} />
        </Tabs.Panel>
        <Tabs.Panel value="plans">
          <Plans person={address.person} onPerson={(person) => change({ person })} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
