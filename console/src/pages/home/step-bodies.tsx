/** The content of each first step. */
import { Anchor, Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isRoot, useApi, useSelf } from '../../api/hooks.ts';
import { Small } from '../../parts/page.tsx';
import { Copy, Snippet } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import type { Calls } from './calls.ts';
import type { StepName } from './facts.ts';
import { FirstCall } from './first-call.tsx';
import type { FirstKey } from './first-key.ts';
import { TEXT } from './text.ts';

/** The command that sets a vendor key which the shipped gateway.yaml reads from the environment. */
const WITH_VENDOR = 'OPENAI_API_KEY=sk-… npm start';

/** The content of a step that is not done. */
export function StepBody({
  name,
  calls,
  firstKey,
}: {
  readonly name: StepName;
  readonly calls: Calls;
  readonly firstKey: FirstKey;
}): ReactNode {
  const text = useText(TEXT);
  switch (name) {
    case 'balance':
      return <BalanceBody />;
    case 'key':
      return (
        <>
          <span>{text.keyTodo}</span>
          <Button leftSection={<IconPlus size={14} />} loading={firstKey.isMaking} onClick={firstKey.make}>
            {text.words.createKey}
          </Button>
        </>
      );
    case 'call':
      return (
        <>
          {firstKey.text !== undefined && (
            <div>
              <Copy value={firstKey.text} what={text.words.yourNewKey} />
              <Small>{text.keyOnce}</Small>
            </div>
          )}
          <FirstCall calls={calls} firstKey={firstKey} />
        </>
      );
    case 'vendor':
      return <VendorBody />;
    case 'factor':
      return <Lead message={text.factorTodo} to="/security" name={text.words.security} />;
    case 'people':
      return <Lead message={text.peopleTodo} to="/users" name={text.users} />;
  }
}

function Lead({ message, to, name }: { readonly message: string; readonly to: string; readonly name: string }) {
  return (
    <span>
      {message}{' '}
      <Anchor component={Link} href={to} size="sm">
        {name}
      </Anchor>
    </span>
  );
}

function BalanceBody() {
  const text = useText(TEXT);
  const { data: ways } = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000 });
  const sells =
    ways?.enable_online_topup === true ||
    ways?.enable_stripe_topup === true ||
    ways?.enable_creem_topup === true ||
    ways?.enable_alipay_topup === true;
  return (
    <>
      <span>{text.balanceTodo}</span>
      <Lead message={sells ? text.balanceTopUp : text.balanceAsk} to="/wallet" name={text.words.wallet} />
    </>
  );
}

function VendorBody() {
  const text = useText(TEXT);
  const [to, name] = isRoot(useSelf()) ? ['/config', text.words.config] : ['/vendors', text.vendors];
  return (
    <>
      <span>{text.vendorTodo}</span>
      <Snippet code={WITH_VENDOR} label={text.steps.vendor} />
      <Lead message={text.vendorConfig} to={to} name={name} />
    </>
  );
}
