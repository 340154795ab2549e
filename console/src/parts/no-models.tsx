/** The empty state without callable models: where to add a vendor, or to contact an administrator. */
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { isAdmin, useSelf } from '../api/hooks.ts';
import { texts } from '../text.ts';
import { Empty } from './notes.tsx';
import { Section } from './page.tsx';

const useText = texts({
  title: ['No vendor is connected yet', '还没有接入供应商'],
  admin: [
    'To call models, set the key of a vendor channel in gateway.yaml.',
    '如需调用模型，请在 gateway.yaml 中设置供应商渠道的密钥。',
  ],
  member: ['An administrator must connect a vendor first.', '需要管理员先接入供应商。'],
});

/** Shown in place of models. */
export function NoModels() {
  const text = useText();
  const admin = isAdmin(useSelf());
  return (
    <Section>
      <Empty
        title={text.title}
        action={
          admin && (
            <Button component={Link} href="/vendors">
              {text.words.openVendors}
            </Button>
          )
        }
      >
        {admin ? text.admin : text.member}
      </Empty>
    </Section>
  );
}
