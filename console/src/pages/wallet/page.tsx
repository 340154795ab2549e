/** The wallet: balance, top-up, statement. */
import './wallet.css';
import { Alert, Center, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useSelf } from '../../api/hooks.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { IconAlertTriangle, IconCheck } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { useDialog } from '../../parts/confirm.tsx';
import { Page, PageTabs, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Figure, Meter, Money, useLanguage, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { OrderDrawer, Orders, useWatchedOrder } from './orders.tsx';
import { OrderNote, Returned } from './returned.tsx';
import { Statement } from './statement.tsx';
import { Subscription } from './subscription.tsx';
import { useText } from './text.ts';
import { TopUp } from './top-up.tsx';
import { PAID_CHANGES, PaymentContext, type Scan } from './use-paying.ts';

export default function WalletPage() {
  const text = useText();
  const [address, change] = useAddress({ tab: 'statement', days: '30', before: '', state: '', page: '1', order: '' });
  const scanning = useDialog<Scan>();
  const { open: show } = scanning;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback never changes
  const payments = useMemo(() => ({ show }), []);
  const info = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000, retry: false });
  const offer = info.data;
  const openOrder = (order: string): void => change({ order });
  return (
    <Page name="wallet" about={text.about}>
      <Returned onOpen={openOrder} />
      <Balance />
      <PaymentContext value={payments}>
        <div className="two-columns">
          {!info.isPending && <TopUp offer={offer} />}
          <Stack gap="md">
            {offer?.enable_redemption === true && <Redeem />}
            <DepartmentBudgets />
            <Subscription offer={offer} />
          </Stack>
        </div>
      </PaymentContext>
      <PageTabs
        tab={address.tab === 'orders' ? 'orders' : 'statement'}
        names={text.tabs}
        onChange={(tab) => change({ tab })}
        contents={{
          statement: <Statement address={address} onChange={change} onOpenOrder={openOrder} />,
          orders: <Orders state={address.state} page={pageOf(address.page)} open={address.order} onChange={change} />,
        }}
      />
      <OrderDrawer open={address.order} onClose={() => change({ order: '' })} />
      <ScanDialog scan={scanning.about} opened={scanning.opened} onOpenOrder={openOrder} onClose={scanning.close} />
    </Page>
  );
}

/** Balance, reserved amount and debt. */
function Balance() {
  const text = useText();
  const format = useFormat();
  const self = useSelf();
  const { data: statement } = useApi('GET /api/user/statement', { search: { days: 30 } });
  const owed = Math.max(0, -(self?.quota ?? 0));
  const held = Math.round(Number(statement?.held ?? 0));
  const unlimited = self?.unlimited_quota === true;
  return (
    <>
      {owed > 0 && (
        <Alert color="red" icon={<IconAlertTriangle />} title={text.debt.title(format.money(owed))}>
          <Text size="sm">{text.debt.about}</Text>
          <Text size="sm" mt={4}>
            {text.debt.next}
          </Text>
        </Alert>
      )}
      <div className="grid-figures">
        <Figure
          label={text.available}
          value={self === undefined ? '…' : <Money units={unlimited ? null : Math.max(0, self.quota)} />}
          note={unlimited ? text.unlimitedNote : text.availableNote}
        />
        {owed > 0 && <Figure label={text.owed} value={<Money units={owed} />} note={text.owedNote} />}
        <Figure label={text.words.reserved} value={<Money units={held} />} note={text.heldNote} />
        <Figure label={text.used} value={<Money units={self?.used_quota ?? 0} />} />
      </div>
    </>
  );
}

/** The section; renders nothing for users without a department budget. */
function DepartmentBudgets() {
  const { department: text, words } = useText();
  const format = useFormat();
  const { data: path = [] } = useApi('GET /api/user/department', undefined, { staleTime: 30_000, retry: false });
  const [own] = path;
  const disabled = path.find(({ status }) => status === 0);
  const budgets = path.flatMap(({ name, budgets: ownBudgets }) => ownBudgets.map((budget) => ({ name, ...budget })));
  if (own === undefined || (budgets.length === 0 && disabled === undefined && own.ratio === 1)) return null;
  return (
    <Section title={text.title(own.name)}>
      <Stack gap="sm">
        {disabled !== undefined && <Alert color="red">{text.disabled(disabled.name)}</Alert>}
        {budgets.map(({ name, window, limit, used, resets_at }) => (
          <div key={`${name} ${window}`}>
            <Meter used={used} limit={limit} label={text.windows[window](name)} />
            {resets_at !== null && (
              <Small mt={2}>
                {words.resets} <When at={resets_at} />
              </Small>
            )}
          </div>
        ))}
        {budgets.length > 0 && <Text size="sm">{text.about}</Text>}
        {own.ratio !== 1 && <Text size="sm">{text.ratio(format.number(own.ratio))}</Text>}
      </Stack>
    </Section>
  );
}

function ScanDialog({
  scan,
  opened,
  onOpenOrder,
  onClose,
}: {
  readonly scan: Scan | undefined;
  readonly opened: boolean;
  onOpenOrder(tradeNo: string): void;
  onClose(): void;
}) {
  const { scan: text, words } = useText();
  const { data: order } = useWatchedOrder(opened ? (scan?.tradeNo ?? '') : '');
  return (
    <Modal opened={opened} onClose={onClose} title={text.title}>
      {scan !== undefined && (
        <Stack>
          {(order === undefined || order.status === 'pending') && (
            <>
              <Text size="sm">{text.about}</Text>
              <Center bg="white" p="sm">
                <img src={scan.picture} alt={text.picture} width={240} height={240} />
              </Center>
            </>
          )}
          <div aria-live="polite">
            {order !== undefined && (
              <OrderNote order={order} onOpen={() => onOpenOrder(order.trade_no)} onDismiss={onClose} />
            )}
          </div>
          <PlainButton onClick={onClose}>{words.close}</PlainButton>
        </Stack>
      )}
    </Modal>
  );
}

function Redeem() {
  const { code: text, words } = useText();
  const format = useFormat();
  const language = useLanguage();
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState('');
  const [added, setAdded] = useState<number>();
  const redeem = useAction((key: string) => call('POST /api/user/topup', { body: { key } }), {
    changes: PAID_CHANGES,
    done(units) {
      setAdded(units);
      setCode('');
    },
    refused(refusal) {
      setProblem(sentenceOf(refusal, language));
      return true;
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setAdded(undefined);
    setProblem('');
    if (code.trim() === '') setProblem(text.wanted);
    else redeem.mutate(code.trim());
  };
  return (
    <Section title={text.title}>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <TextInput
            label={words.code}
            description={text.about}
            value={code}
            onChange={({ currentTarget }) => {
              setCode(currentTarget.value);
              setProblem('');
            }}
            error={problem || undefined}
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
          />
          <Group justify="flex-end">
            <PlainButton type="submit" loading={redeem.isPending}>
              {text.redeem}
            </PlainButton>
          </Group>
        </Stack>
        <div aria-live="polite">
          {added !== undefined && (
            <Alert color="green" icon={<IconCheck />} mt="sm">
              {text.added(format.money(added))}
            </Alert>
          )}
        </div>
      </form>
    </Section>
  );
}
