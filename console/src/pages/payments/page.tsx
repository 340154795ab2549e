/** Payments of all accounts: orders, redemption codes, plans. For administrators. */
import { useAddress } from '../../parts/address.ts';
import { Page, PageTabs } from '../../parts/page.tsx';
import { Codes } from './codes.tsx';
import { Orders } from './orders.tsx';
import { Plans } from './plans.tsx';
import { useText } from './text.ts';

const TABS = ['orders', 'codes', 'plans'] as const;
/** Each tab has its own filters. */
const FILTERS = { q: '', state: '', provider: '', person: '', sort: '', size: '25', page: '1', open: '' } as const;

export default function PaymentsPage() {
  const text = useText();
  const [address, change] = useAddress({ tab: 'orders', ...FILTERS });
  const tab = TABS.find((name) => name === address.tab) ?? 'orders';
  return (
    <Page name="payments" about={text.about}>
      <PageTabs
        tab={tab}
        names={text.tabs}
        onChange={(next) => change({ ...FILTERS, tab: next })}
        contents={{
          orders: <Orders address={address} onChange={change} />,
          codes: <Codes address={address} onChange={change} />,
          plans: <Plans person={address.person} onPerson={(person) => change({ person })} />,
        }}
      />
    </Page>
  );
}
