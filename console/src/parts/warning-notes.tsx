/** Translation warnings in words. */
import { Code, Text } from '@mantine/core';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { Small } from './page.tsx';
import { parseWarning } from './warnings.ts';

const useText = texts({
  dropped: ['dropped: the vendor’s API does not support it.', '已丢弃：供应商的 API 不支持。'],
  changed: [
    'changed: clamped, mapped to the vendor’s parameter, or emulated by the gateway.',
    '已更改：被限制在允许范围内、映射为供应商的参数，或由网关模拟。',
  ],
  omitted: ['omitted from the answer: the client’s API does not support it.', '已从回答中省略：客户端的 API 不支持。'],
  estimated: ['counted by the gateway, not by the vendor.', '由网关计数，而非供应商。'],
  more: [(count: string) => `and ${count} more`, (count: string) => `以及另外 ${count} 项`],
  header: [
    'The response header x-turnpike-translation lists the same warnings.',
    '响应头 x-turnpike-translation 列出了相同的警告。',
  ],
});

/** The warnings with their meaning. */
export function WarningList({ warnings }: { readonly warnings: readonly string[] }) {
  const text = useText();
  const format = useFormat();
  return (
    <ul className="warnings">
      {warnings.map((warning) => {
        const { field, what, count } = parseWarning(warning);
        return (
          <li key={warning}>
            {what === 'more' ? text.more(format.number(count)) : <Code>{field}</Code>}
            {what !== 'more' && what !== 'other' && ` ${text[what]}`}
          </li>
        );
      })}
    </ul>
  );
}

/** The list with a heading; renders nothing without warnings. `before`: the call has not been made. */
export function TranslationWarnings({
  warnings,
  before = false,
}: {
  readonly warnings: readonly string[];
  readonly before?: boolean;
}) {
  const text = useText();
  if (warnings.length === 0) return null;
  return (
    <div className="warning-notes">
      <Text size="sm" fw={500}>
        {before ? text.words.translationWarnings : text.words.translationWarnings}
      </Text>
      <WarningList warnings={warnings} />
      {!before && <Small>{text.header}</Small>}
    </div>
  );
}
