/** Texts of the stored prompt and answer of a call. */
import { texts } from '../../text.ts';

/** The texts in English and Chinese. */
export const CONTENT = texts({
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
  answer: ['Answer', '回答'],
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
  reasoning: ['Reasoning', '推理'],
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
