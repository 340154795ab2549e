/** Why a request was refused or failed, in words. */
import { texts, useText } from '../../text.ts';
import type { Facts } from './line.ts';

const TEXT = texts(
  {
    codes: {
      model_not_found: 'The model does not exist, or does not support this API.',
      model_not_allowed: 'The key may not use this model.',
      model_not_priced: 'The model has no price.',
      invalid_json: 'The body was not a JSON object.',
      invalid_request_error: 'A field of the request was invalid.',
      unsupported_parameter: 'The vendor does not support one of the fields.',
      translation_refused: 'The model or key is strict, and the request could not be translated exactly.',
      media_not_fetched: 'An image or file could not be fetched from its URL.',
      conversation_too_long: 'The conversation had too many turns.',
      QUOTA_USER_INSUFFICIENT: 'The account balance was insufficient.',
      QUOTA_TOKEN_INSUFFICIENT: 'The key’s quota was insufficient.',
      QUOTA_MONTHLY_DAILY_EXCEEDED: 'The plan’s daily limit was reached.',
      QUOTA_MONTHLY_WEEKLY_EXCEEDED: 'The plan’s weekly limit was reached.',
      QUOTA_MONTHLY_EXCEEDED: 'The plan’s 30-day limit was reached.',
      QUOTA_SUBSCRIPTION_EXPIRED: 'The plan had expired.',
      QUOTA_DEPARTMENT_EXCEEDED: 'A budget of the department was used up.',
      QUOTA_HOLD_EXCEEDED: 'The answer was cut off when its cost reached the reservation.',
      department_disabled: 'The department is disabled.',
      account_disabled: 'The account is disabled.',
      ip_not_allowed: 'The key may not be used from this address.',
      rate_limit_exceeded: 'The rate limit was exceeded.',
      concurrency_limit_exceeded: 'The concurrency limit was exceeded.',
      request_too_large: 'The request was too large.',
      request_timeout: 'The request did not arrive in time.',
      internal_error: 'Internal error of the gateway; its log has the details.',
      upstream_unreachable: 'The vendor could not be reached.',
      upstream_error: 'The vendor answered with an error.',
      bad_upstream_response: 'The vendor’s answer could not be decoded.',
      upstream_broke_off: 'The vendor’s answer was truncated.',
      upstream_timeout: 'The vendor timed out.',
      no_channel: 'No channel for this model was enabled.',
      storage_unavailable: 'The ledger could not be written.',
      shutting_down: 'The gateway was about to stop.',
    },
    failures: {
      connect: 'no connection to the vendor',
      timeout: 'the vendor timed out',
      status: 'the vendor answered with an error',
      busy: 'the vendor was overloaded or rate-limited',
      credential: 'the vendor did not accept the channel’s key',
      broken: 'the answer was truncated or invalid',
      refused: 'the vendor rejected the request',
    },
    refused: (status: number) => `Refused with status ${status}.`,
    failed: (status: number) => `Failed with status ${status}.`,
    because: (failure: string) => `The last channel that failed: ${failure}.`,
    aborted: 'The client left before the end.',
    recovered: 'The gateway stopped during this call. What had been delivered was charged.',
    unknown: (code: string) => `Refused: ${code}.`,
  },
  {
    codes: {
      model_not_found: '没有此名称的模型，或不支持此接口格式。',
      model_not_allowed: '此密钥不允许使用该模型。',
      model_not_priced: '该模型还没有价格。',
      invalid_json: '请求内容不是有效的 JSON 对象。',
      invalid_request_error: '请求中有字段不正确。',
      unsupported_parameter: '该模型的供应商不支持其中一个字段。',
      translation_refused: '模型或密钥为严格模式，而请求无法完整转换。',
      media_not_fetched: '无法从所给地址获取图片或文件。',
      conversation_too_long: '对话轮次过多。',
      QUOTA_USER_INSUFFICIENT: '账户余额不足。',
      QUOTA_TOKEN_INSUFFICIENT: '密钥的额度不足。',
      QUOTA_MONTHLY_DAILY_EXCEEDED: '套餐的当日额度已用完。',
      QUOTA_MONTHLY_WEEKLY_EXCEEDED: '套餐的本周额度已用完。',
      QUOTA_MONTHLY_EXCEEDED: '套餐的本期额度已用完。',
      QUOTA_SUBSCRIPTION_EXPIRED: '套餐已到期。',
      QUOTA_DEPARTMENT_EXCEEDED: '部门预算已用完。',
      QUOTA_HOLD_EXCEEDED: '费用将超出预留额度，输出已中止。',
      department_disabled: '部门已停用。',
      account_disabled: '账户已停用。',
      ip_not_allowed: '此密钥不允许从该地址使用。',
      rate_limit_exceeded: '此时间内调用过多。',
      concurrency_limit_exceeded: '同时进行的调用过多。',
      request_too_large: '请求内容太大。',
      request_timeout: '请求没有及时到达。',
      internal_error: '网关内部出错，详见网关自身的日志。',
      upstream_unreachable: '无法连接供应商。',
      upstream_error: '供应商返回了错误。',
      bad_upstream_response: '供应商的回答无法读取。',
      upstream_broke_off: '供应商的输出中途断开。',
      upstream_timeout: '供应商响应超时。',
      no_channel: '没有可用于此模型的渠道。',
      storage_unavailable: '账本无法写入。',
      shutting_down: '网关正在停止。',
    },
    failures: {
      connect: '无法连接供应商',
      timeout: '供应商响应超时',
      status: '供应商返回了错误',
      busy: '供应商过于繁忙',
      credential: '供应商不接受此渠道的密钥',
      broken: '回答中断或无法读取',
      refused: '供应商认为请求本身有误',
    },
    refused: (status: number) => `已拒绝，状态码 ${status}。`,
    failed: (status: number) => `失败，状态码 ${status}。`,
    because: (failure: string) => `最后失败的渠道：${failure}。`,
    aborted: '客户端在结束前断开。',
    recovered: '调用期间网关停止；已交付的部分已计费。',
    unknown: (code: string) => `已拒绝：${code}。`,
  },
);

/** Of a call that was not served: a sentence; '' of one that was. */
export function useReason(): (facts: Pick<Facts, 'outcome' | 'status' | 'code' | 'failure'>) => string {
  const text = useText(TEXT);
  const failureWords = useFailure();
  return ({ outcome, status, code, failure }) => {
    if (outcome === undefined || outcome === 'served') return '';
    if (outcome === 'aborted' || outcome === 'recovered') return text[outcome];
    const known = said(text.codes, code);
    if (known !== undefined) return known;
    if (failure !== '') return `${text[outcome](status)} ${text.because(failureWords(failure))}`;
    return code === '' ? text[outcome](status) : text.unknown(code);
  };
}

/** How an attempt failed. */
export function useFailure(): (failure: string) => string {
  const text = useText(TEXT);
  return (failure) => said(text.failures, failure) ?? failure;
}

/** Codes come from elsewhere, too: `constructor` is none of ours. */
function said(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}
