/** There is nothing to call yet: where a vendor is added, or whom to ask. */
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { isAdmin, useSelf } from '../shell/self.ts';
import { texts, useText } from '../text.ts';
import { Empty } from './notes.tsx';
import { Section } from './page.tsx';

const TEXT = texts(
  {
    title: 'No vendor is connected yet',
    admin: 'Give a channel of a vendor its key in gateway.yaml, and its models can be called.',
    member: 'An administrator has to connect a vendor first.',
    openVendors: 'Open Vendors',
  },
  {
    title: '还没有接入供应商',
    admin: '在 gateway.yaml 中为供应商的渠道填写密钥，就可以调用它的模型。',
    member: '需要网关管理员先接入供应商，请联系管理员。',
    openVendors: '打开“供应商”',
  },
);

/** Where models would be. */
export function NoModels() {
  const text = useText(TEXT);
  const admin = isAdmin(useSelf());
  return (
    <Section>
      <Empty
        title={text.title}
        action={
          admin && (
            <Button component={Link} href="/vendors">
              {text.openVendors}
            </Button>
          )
        }
      >
        {admin ? text.admin : text.member}
      </Empty>
    </Section>
  );
}
