/** The group of channels that a key uses. */
import { Select } from '@mantine/core';
import { useApi } from '../api/hooks.ts';
import { texts } from '../text.ts';

const useText = texts({
  about: [
    'Decides which channels serve its calls, and the price factor (×). Leave it empty to use the group of its user.',
    '决定由哪些渠道处理其调用，以及价格系数（×）。留空表示使用其用户的分组。',
  ],
  ofUser: ['Group of the user', '用户的分组'],
  byServer: ['as the group that serves the call', '以实际处理调用的分组为准'],
});

/** The field; nothing if there is no choice. `value` '': the group of the user. */
export function GroupSelect({
  value,
  onChange,
  error,
}: {
  readonly value: string;
  onChange(group: string): void;
  readonly error?: React.ReactNode;
}) {
  const text = useText();
  const { data = {} } = useApi('GET /api/user/self/groups', undefined, { staleTime: 60_000 });
  const groups = Object.entries(data);
  if (groups.length < 2 && value === '') return null;
  const options = groups.map(([name, { ratio }]) => ({
    value: name,
    label: `${name} (${typeof ratio === 'number' ? `×${ratio}` : text.byServer})`,
  }));
  // A group that only an administrator can set stays until the user removes it.
  const others = value === '' || value in data ? [] : [{ value, label: value }];
  return (
    <Select
      label={text.words.group}
      description={text.about}
      placeholder={text.ofUser}
      data={[...options, ...others]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable
      clearable
      error={error}
    />
  );
}
