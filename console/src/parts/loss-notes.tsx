/** What the translation does to a call, in words. */
import { Code, Text } from '@mantine/core';
import { useFormat } from '../shell/format.ts';
import { texts, useText } from '../text.ts';
import { lossOf } from './losses.ts';

const TEXT = texts(
  {
    after: 'Translation warnings',
    before: 'Translation warnings',
    dropped: 'dropped: the vendor’s API does not support it.',
    changed: 'changed: clamped, mapped to the vendor’s parameter, or emulated by the gateway.',
    omitted: 'omitted from the answer: the client’s API does not support it.',
    estimated: 'counted by the gateway, not by the vendor.',
    more: (count: string) => `and ${count} more`,
    header: 'The header x-turnpike-translation names the same.',
  },
  {
    after: '格式转换的影响',
    before: '格式转换将产生的影响',
    dropped: '被省略：无法向该供应商表达。',
    changed: '以其他方式表达：受模型限制、换成供应商的写法，或由网关完成。',
    omitted: '是回答的一部分，但在此格式中没有位置，已省略。',
    estimated: '是网关自己的计数，而非供应商的。',
    more: (count: string) => `以及另外 ${count} 项`,
    header: '响应头 x-turnpike-translation 中有同样的内容。',
  },
);

/** The words of the translation, each with what it means. */
export function LossList({ losses }: { readonly losses: readonly string[] }) {
  const text = useText(TEXT);
  const format = useFormat();
  return (
    <ul className="losses">
      {losses.map((word) => {
        const { field, what, count } = lossOf(word);
        return (
          <li key={word}>
            {what === 'more' ? text.more(format.number(count)) : <Code>{field}</Code>}
            {what !== 'more' && what !== 'other' && ` ${text[what]}`}
          </li>
        );
      })}
    </ul>
  );
}

/** The list with a heading; nothing where there are none. `before`: the call has not been made. */
export function LossNotes({
  losses,
  before = false,
}: {
  readonly losses: readonly string[];
  readonly before?: boolean;
}) {
  const text = useText(TEXT);
  if (losses.length === 0) return null;
  return (
    <div className="loss-notes">
      <Text size="sm" fw={500}>
        {before ? text.before : text.after}
      </Text>
      <LossList losses={losses} />
      {!before && (
        <Text size="xs" c="dimmed">
          {text.header}
        </Text>
      )}
    </div>
  );
}
