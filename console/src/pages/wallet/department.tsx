/** The budgets of the user's department and of those above it: calls are refused when one is used up, whatever the balance. */
import { Alert, Stack, Text } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { Section } from '../../parts/page.tsx';
import { Meter, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** The section; renders nothing for users without a department budget. */
export function DepartmentBudgets() {
  const { department: text } = useText(TEXT);
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
              <Text size="xs" c="dimmed" mt={2}>
                {text.resets} <When at={resets_at} />
              </Text>
            )}
          </div>
        ))}
        {budgets.length > 0 && <Text size="sm">{text.about}</Text>}
        {own.ratio !== 1 && <Text size="sm">{text.ratio(format.number(own.ratio))}</Text>}
      </Stack>
    </Section>
  );
}
