/** Why a request was refused or failed, in words. */
import { useContext } from 'react';
import { sentenceOfCode } from '../../api/refusals.ts';
import { LanguageContext, texts } from '../../text.ts';
import type { Facts } from './line.ts';

const useText = texts({
  failures: {
    connect: ['no connection to the vendor', '无法连接供应商'],
    timeout: ['the vendor timed out', '供应商响应超时'],
    status: ['the vendor answered with an error', '供应商返回了错误'],
    busy: ['the vendor was overloaded or rate-limited', '供应商过载或限速'],
    credential: ['the vendor rejected the channel’s key', '供应商拒绝了渠道的密钥'],
    broken: ['the answer was truncated or invalid', '响应被截断或无效'],
    refused: ['the vendor rejected the request', '供应商拒绝了请求'],
  },
  refused: [(status: number) => `Refused with status ${status}.`, (status: number) => `已拒绝，状态码 ${status}。`],
  failed: [(status: number) => `Failed with status ${status}.`, (status: number) => `失败，状态码 ${status}。`],
  because: [
    (failure: string) => `The last channel failed: ${failure}.`,
    (failure: string) => `最后失败的渠道：${failure}。`,
  ],
  aborted: ['The client disconnected before the end.', '客户端在结束前断开。'],
  recovered: [
    'The gateway stopped during this call. The delivered part was charged.',
    '调用期间网关停止。已交付的部分已计费。',
  ],
  unknown: [(code: string) => `Refused: ${code}.`, (code: string) => `已拒绝：${code}。`],
});

/** The reason of a call that was not served; '' if it was served. */
export function useReason(): (facts: Pick<Facts, 'outcome' | 'status' | 'code' | 'failure'>) => string {
  const text = useText();
  const { language } = useContext(LanguageContext);
  const failureWords = useFailure();
  return ({ outcome, status, code, failure }) => {
    if (outcome === undefined || outcome === 'served') return '';
    if (outcome === 'aborted' || outcome === 'recovered') return text[outcome];
    const message = sentenceOfCode(code, language);
    if (message !== undefined) return message;
    if (failure !== '') return `${text[outcome](status)} ${text.because(failureWords(failure))}`;
    return code === '' ? text[outcome](status) : text.unknown(code);
  };
}

/** How an attempt failed. */
export function useFailure(): (failure: string) => string {
  const text = useText();
  return (failure) => lookUp(text.failures, failure) ?? failure;
}

/** Codes may be any text, such as `constructor`, so only own properties count. */
function lookUp(messages: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(messages, name) ? messages[name] : undefined;
}
