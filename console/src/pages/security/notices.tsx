/** Notifications of a low balance, and whether the viewer's logs show IP addresses. */
import { Checkbox, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Body, call } from '../../api/client.ts';
import type { Self } from '../../api/hooks.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import { Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { notifyDone } from './item.tsx';
import { useText } from './text.ts';

/** The settings from `/api` that this page uses. */
interface Settings {
  readonly notify_type?: 'email' | 'webhook';
  readonly quota_warning_threshold?: number;
  readonly webhook_url?: string;
  readonly webhook_secret_set?: boolean;
  readonly notification_email?: string;
  readonly record_ip_log?: boolean;
  readonly budget_emails?: boolean;
}

/** A section of the page. */
export function Notices({ self }: { readonly self: Self }) {
  const { notices: text, saved, words } = useText();
  const status = useStatus();
  const stored = JSON.parse(self.setting) as Settings;
  const [isEnabled, setWanted] = useState(stored.quota_warning_threshold !== undefined);
  const [units, setUnits] = useState<number | null>(stored.quota_warning_threshold ?? null);
  const [method, setWay] = useState(stored.notify_type ?? 'email');
  const [to, setTo] = useState(stored.notification_email ?? '');
  const [url, setUrl] = useState(stored.webhook_url ?? '');
  const [secret, setSecret] = useState('');
  const [forget, setForget] = useState(false);
  const [ips, setIps] = useState(stored.record_ip_log ?? false);
  const [budgets, setBudgets] = useState(stored.budget_emails ?? false);
  const always = { record_ip_log: ips, budget_emails: budgets };
  const refusal = useFormRefusal('quota_warning_threshold', 'notification_email', 'webhook_url', 'webhook_secret');

  const change = useAction((body: Body<'PUT /api/user/setting'>) => call('PUT /api/user/setting', { body }), {
    changes: ['GET /api/user/self'],
    done: () => notifyDone(saved),
    refused: refusal.refused,
  });
  const submit = (): void => {
    refusal.clear();
    if (!isEnabled) {
      change.mutate({ ...always, quota_warning_threshold: null });
    } else if (units === null || units <= 0) {
      refusal.say('quota_warning_threshold', text.amountMissing);
    } else if (method === 'email' && to.trim() === '' && self.email === '') {
      refusal.say('notification_email', text.addressMissing);
    } else {
      const where =
        method === 'email'
          ? { notification_email: to.trim() }
          : { webhook_url: url.trim(), webhook_secret: forget ? null : secret };
      change.mutate({ ...always, quota_warning_threshold: units, notify_type: method, ...where });
    }
  };
  return (
    <Section title={text.title}>
      <form
        ref={refusal.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="sm">
          <Checkbox
            label={text.wanted}
            checked={isEnabled}
            onChange={(event) => setWanted(event.currentTarget.checked)}
          />
          {isEnabled && (
            <>
              <MoneyInput
                label={text.below}
                units={units}
                onUnits={setUnits}
                error={refusal.at('quota_warning_threshold')}
              />
              <Radio.Group label={words.method} value={method} onChange={(value) => setWay(value as typeof method)}>
                <Group gap="md" mt={4}>
                  <Radio value="email" label={text.email} />
                  <Radio value="webhook" label={text.webhook} />
                </Group>
              </Radio.Group>
              {method === 'email' ? (
                <>
                  <TextInput
                    type="email"
                    label={words.emailAddress}
                    description={text.toAbout(self.email)}
                    autoComplete="email"
                    maxLength={254}
                    {...refusal.field('notification_email', to, setTo)}
                  />
                  {status?.letters !== 'sent' && (
                    <Text size="sm" c="orange">
                      {status?.letters === 'none' ? text.noLetters : text.logged}
                    </Text>
                  )}
                </>
              ) : (
                <>
                  <TextInput
                    type="url"
                    label={text.url}
                    description={text.urlAbout}
                    maxLength={2_000}
                    {...refusal.field('webhook_url', url, setUrl)}
                  />
                  <TextInput
                    label={text.secret}
                    description={stored.webhook_secret_set === true ? text.secretSet : text.secretAbout}
                    autoComplete="off"
                    spellCheck={false}
                    maxLength={500}
                    disabled={forget}
                    {...refusal.field('webhook_secret', secret, setSecret)}
                  />
                  {stored.webhook_secret_set === true && (
                    <Checkbox
                      label={text.forget}
                      checked={forget}
                      onChange={(event) => setForget(event.currentTarget.checked)}
                    />
                  )}
                </>
              )}
            </>
          )}
          <Checkbox
            label={text.budgets}
            description={text.budgetsAbout}
            checked={budgets}
            onChange={(event) => setBudgets(event.currentTarget.checked)}
          />
          <Checkbox label={text.ips} checked={ips} onChange={(event) => setIps(event.currentTarget.checked)} />
          <Refused by={refusal} />
          <Group justify="flex-end">
            <PlainButton type="submit" loading={change.isPending}>
              {words.save}
            </PlainButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
