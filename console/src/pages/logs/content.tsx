/** The stored prompt and answer of a call. Loaded only on request, because the audit log records it. */
import { Code, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi, useSelf } from '../../api/hooks.ts';
import type { CallContent, ContentBlock } from '../../api/operations.ts';
import { Loaded } from '../../parts/notes.tsx';
import { PlainButton, Section, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { texts } from '../../text.ts';
import type { CallDetail } from './line.ts';

/** The section; shown if the call has stored content. */
export function CallContents({ call }: { readonly call: CallDetail }) {
  const text = useContentText();
  const self = useSelf();
  const [isShown, setShown] = useState(false);
  const isOwn = call.user_id === self?.id;
  const content = useApi(
    isOwn ? 'GET /api/log/self/content/{request_id}' : 'GET /api/log/content/{request_id}',
    { params: { request_id: call.request_id } },
    { enabled: isShown, staleTime: Number.POSITIVE_INFINITY, gcTime: 0, retry: false },
  );
  // The user closed the verification dialog and may try again.
  const isUnchecked = content.error?.code === 'verification_required' && !content.isFetching;
  return (
    <Section title={text.title} about={isOwn ? text.about : text.recorded}>
      {isShown && !isUnchecked ? (
        <Loaded query={content}>{(found) => <Conversation content={found} />}</Loaded>
      ) : (
        <PlainButton onClick={() => (isUnchecked ? void content.refetch() : setShown(true))}>{text.show}</PlainButton>
      )}
    </Section>
  );
}

function Conversation({ content }: { readonly content: CallContent }) {
  const text = useContentText();
  const format = useFormat();
  const { messages, earlier_messages: earlier, tools, parameters, answer, omitted } = content;
  return (
    <Stack gap="sm">
      {earlier > 0 && <Note>{text.earlier(format.number(earlier))}</Note>}
      {messages.map(({ role: from, name, blocks }, at) => {
        // Tool results are in user messages, although the user did not write them.
        const role = from === 'user' && blocks.length > 0 && blocks.every(({ id }) => id !== null) ? 'tool' : from;
        const title = Object.hasOwn(text.roles, role) ? text.roles[role as keyof typeof text.roles] : role;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the messages have no ID and do not change
          <Message key={at} title={name === null ? title : `${title} (${name})`} blocks={blocks} />
        );
      })}
      {answer === null ? <Note>{text.noAnswer}</Note> : <Answer answer={answer} />}
      {tools.length > 0 && (
        <details className="logs-folded">
          <summary>{text.tools(format.number(tools.length))}</summary>
          <Blocks blocks={tools} />
        </details>
      )}
      {parameters !== null && (
        <details className="logs-folded">
          <summary>{text.parameters}</summary>
          <Said block={parameters} isCode />
        </details>
      )}
      {omitted.length > 0 && (
        <Text size="sm">
          {text.omitted}: <Code>{omitted.join(', ')}</Code>
        </Text>
      )}
    </Stack>
  );
}

function Answer({ answer }: { readonly answer: NonNullable<CallContent['answer']> }) {
  const text = useContentText();
  const { blocks, finish_reason: reason } = answer;
  const finish =
    reason !== null && Object.hasOwn(text.finish, reason) ? text.finish[reason as keyof typeof text.finish] : reason;
  return (
    <Message
      title={finish === null ? text.words.answer : `${text.words.answer} · ${finish}`}
      blocks={blocks}
      isAnswer
    />
  );
}

function Message({
  title,
  blocks,
  isAnswer = false,
}: {
  readonly title: string;
  readonly blocks: readonly ContentBlock[];
  readonly isAnswer?: boolean;
}) {
  return (
    <article className="logs-message" data-answer={isAnswer || undefined}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Blocks blocks={blocks} />
    </article>
  );
}

function Blocks({ blocks }: { readonly blocks: readonly ContentBlock[] }) {
  return (
    <Stack gap="xs" mt={4}>
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks have no ID and do not change
        <OneBlock key={at} block={block} />
      ))}
    </Stack>
  );
}

function OneBlock({ block }: { readonly block: ContentBlock }) {
  const text = useContentText();
  const format = useFormat();
  const name = block.name ?? '';
  switch (block.type) {
    case 'text':
      return <Said block={block} label={name} />;
    case 'refusal':
      return <Said block={block} label={text.refusal} />;
    case 'reasoning':
      return (
        <details className="logs-folded">
          <summary>{text.words.reasoning}</summary>
          <Said block={block} />
        </details>
      );
    case 'tool_call':
      return <Said block={block} label={text.call(name)} isCode />;
    case 'tool_result':
      return <Said block={block} label={block.is_error ? text.failed : text.result} isCode />;
    case 'media': {
      const size = block.bytes === null ? undefined : format.bytes(block.bytes);
      return <Note>{[text.media, name || undefined, block.text, size].filter(Boolean).join(' · ')}</Note>;
    }
    case 'data':
      return <Said block={block} label={name} isCode />;
  }
}

/** The text of a block; `isCode`: in a monospace font. */
function Said({
  block,
  label = '',
  isCode = false,
}: {
  readonly block: ContentBlock;
  readonly label?: string;
  readonly isCode?: boolean;
}) {
  const text = useContentText();
  const format = useFormat();
  return (
    <div>
      {label !== '' && <Note>{label}</Note>}
      <div className="logs-said" data-code={isCode || undefined}>
        {block.text}
      </div>
      {block.cut_bytes > 0 && <Note>{text.cut(format.bytes(block.cut_bytes))}</Note>}
    </div>
  );
}

function Note({ children }: { readonly children: ReactNode }) {
  return <Small style={{ overflowWrap: 'anywhere' }}>{children}</Small>;
}

const useContentText = texts({
  title: ['Prompt and answer', '提示词和回答'],
  about: ['Stored encrypted.', '已加密存储。'],
  recorded: ['Stored encrypted. The audit log records that you read them.', '已加密存储。审计日志会记录您的查看。'],
  show: ['Show prompt and answer', '显示提示词和回答'],
  earlier: [
    (count: string) => `Earlier messages that are not stored: ${count}`,
    (count: string) => `更早的 ${count} 条消息未保存`,
  ],
  roles: {
    system: ['System', '系统'],
    developer: ['Developer', '开发者'],
    user: ['User', '用户'],
    assistant: ['Assistant', '模型'],
    tool: ['Tool', '工具'],
  },
  noAnswer: [
    'No answer is stored: none was received, or it is not text.',
    '未保存回答：没有收到回答，或回答不是文本。',
  ],
  finish: {
    stop: ['Complete', '完整'],
    stop_sequence: ['Ended at a stop sequence', '遇到停止序列而结束'],
    length: ['Truncated at the token limit', '达到 Token 上限而截断'],
    context_full: ['Truncated: the context was full', '上下文已满而截断'],
    tool_calls: ['Ended with tool calls', '以工具调用结束'],
    refusal: ['Refused by the model', '被模型拒绝'],
    content_filter: ['Stopped by a content filter', '被内容过滤停止'],
    pause: ['Paused by the vendor', '被供应商暂停'],
  },
  refusal: ['Refusal', '拒绝'],
  call: [(name: string) => `Tool call: ${name}`, (name: string) => `工具调用：${name}`],
  result: ['Tool result', '工具结果'],
  failed: ['Tool error', '工具错误'],
  media: ['Media, not stored', '媒体，未保存'],
  cut: [(bytes: string) => `Not stored: ${bytes} more`, (bytes: string) => `另有 ${bytes} 未保存`],
  tools: [(count: string) => `Tools: ${count}`, (count: string) => `工具：${count} 个`],
  parameters: ['Parameters', '参数'],
  omitted: ['Not in these messages', '这些消息中未包含'],
});
