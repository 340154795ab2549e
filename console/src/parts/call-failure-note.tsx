/** Why a call failed or would fail: the cause, the next step, and the original message. */
import { Alert, Anchor, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isAdmin, useSelf } from '../api/hooks.ts';
import { IconAlertTriangle } from '../icons.ts';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { type Cause, causeOf, type Refused, voiceOf } from './call-failure.ts';
import { withMoney } from './with-money.ts';

type TargetPage = 'keys' | 'wallet' | 'models' | 'vendors' | 'prices';

/** The page of the next step; without one, it is the current page. */
const PLACES: Readonly<Partial<Record<Cause, TargetPage>>> = {
  key: 'keys',
  expired: 'keys',
  disabled: 'keys',
  scope: 'keys',
  address: 'keys',
  allowance: 'keys',
  balance: 'wallet',
  window: 'wallet',
  model: 'models',
};
/** The page for administrators who can solve the problem. */
const ADMIN_PLACES: Readonly<Partial<Record<Cause, TargetPage>>> = {
  price: 'prices',
  vendor: 'vendors',
  busy: 'vendors',
};

const USUAL_WAIT_S = 10;

/** The note. */
export function CallFailureNote({
  refused,
  title,
  color = 'red',
  children,
}: {
  readonly refused: Refused;
  readonly title: string;
  /** Orange: the call has not been made. */
  readonly color?: 'red' | 'orange';
  /** Further details. */
  readonly children?: ReactNode;
}) {
  const text = useFailureText();
  const self = useSelf();
  const cause = causeOf(refused);
  const place = PLACES[cause] ?? (isAdmin(self) ? ADMIN_PLACES[cause] : undefined);
  const { message, channel, retryAfter } = refused;
  const voice = voiceOf(refused);
  const format = useFormat();
  return (
    <Alert color={color} icon={<IconAlertTriangle />} title={title} p="xs" data-cause={cause}>
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          {text.causes[cause]}
        </Text>
        <Text size="sm">
          {cause === 'limit' ? text.next.limit(retryAfter ?? USUAL_WAIT_S) : text.next[cause]}{' '}
          {place !== undefined && (
            <Anchor component={Link} href={`/${place}`} size="sm">
              {text.open[place]}
            </Anchor>
          )}
        </Text>
        {message !== '' && cause !== 'network' && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {text.voices[voice](
              voice === 'gateway' ? withMoney(message, format.money) : message,
              isAdmin(self) ? channel : '',
            )}
          </Text>
        )}
        {children}
      </Stack>
    </Alert>
  );
}

/** Texts by cause and source. */
export const useFailureText = texts({
  voices: {
    gateway: [
      (message: string) => `Message from the gateway: ${message}`,
      (message: string) => `网关返回的消息：${message}`,
    ],
    vendor: [
      (message: string, channel: string) =>
        channel === ''
          ? `Message from the vendor: ${message}`
          : `Message from the vendor (channel ${channel}): ${message}`,
      (message: string, channel: string) =>
        channel === '' ? `供应商返回的消息：${message}` : `供应商（渠道 ${channel}）返回的消息：${message}`,
    ],
    either: [(message: string) => `Message: ${message}`, (message: string) => `返回的消息：${message}`],
  },
  causes: {
    network: ['The gateway did not respond.', '网关没有响应。'],
    session: ['Your session has ended.', '登录已失效。'],
    key: ['The API key is invalid.', 'API 密钥无效。'],
    expired: ['The key has expired.', '密钥已过期。'],
    disabled: ['The key is disabled.', '密钥已停用。'],
    account: ['The account or its department is disabled.', '账户或其部门已停用。'],
    scope: ['The key is not allowed to call this model.', '此密钥不允许调用该模型。'],
    address: ['The key is not allowed from your IP address.', '此密钥不允许从您的 IP 地址使用。'],
    balance: ['The balance is insufficient for this call.', '余额不足以完成此次调用。'],
    allowance: ['The key’s quota is used up.', '密钥的额度已用完。'],
    window: ['A limit of your plan, key or department is used up.', '您的套餐、密钥或部门的额度已用完。'],
    price: ['The model has no price, so it cannot be called.', '该模型没有价格，因此无法调用。'],
    model: ['The model does not exist, or does not support this API.', '模型不存在，或不支持此 API。'],
    limit: ['Too many calls: a rate or concurrency limit was exceeded.', '调用过多：超出速率或并发限制。'],
    busy: ['The vendor of this model is overloaded or rate-limited.', '该模型的供应商过载或限速。'],
    vendor: [
      'The vendor of this model returned an error or an invalid answer.',
      '该模型的供应商返回了错误或无效的响应。',
    ],
    request: ['The request was rejected.', '请求被拒绝。'],
    gateway: ['Internal error of the gateway.', '网关内部错误。'],
  },
  next: {
    session: ['Reload this page and sign in.', '请重新加载本页并登录。'],
    network: [
      'Check that the gateway is running and that you are online, then try again.',
      '请确认网关在运行、网络正常，然后重试。',
    ],
    key: ['Check that the key is complete, or choose another key.', '请确认密钥完整，或选择其他密钥。'],
    expired: ['Extend its expiry, or choose another key.', '请延长其有效期，或选择其他密钥。'],
    disabled: ['Enable it, or choose another key.', '请启用它，或选择其他密钥。'],
    account: ['Ask an administrator.', '请联系管理员。'],
    scope: ['Add the model to the key, or choose another model.', '请将该模型添加到密钥，或选择其他模型。'],
    address: ['Add your IP address to the key.', '请将您的 IP 地址添加到密钥。'],
    balance: ['Top up, or redeem a code.', '请充值或使用兑换码。'],
    allowance: ['Raise the limit of the key.', '请提高密钥的额度。'],
    window: ['Check when the limit resets.', '请查看额度何时重置。'],
    price: ['Choose another model, or tell an administrator.', '请选择其他模型，或告知管理员。'],
    model: ['Choose another model.', '请选择其他模型。'],
    limit: [(seconds: number) => `Try again in ${seconds} s.`, (seconds: number) => `请在 ${seconds} 秒后重试。`],
    busy: ['Try again in a moment, or choose another model.', '请稍后重试，或选择其他模型。'],
    vendor: ['Try again, or choose another model.', '请重试，或选择其他模型。'],
    request: [
      'Correct the request as described in the message below, then try again.',
      '请按下面的消息修改请求，然后重试。',
    ],
    gateway: [
      'Try again. If it keeps failing, give an administrator the request ID.',
      '请重试；如果仍然失败，请将请求 ID 告知管理员。',
    ],
  },
  open: {
    keys: ['Keys', '密钥'],
    wallet: ['Wallet', '钱包'],
    models: ['Models', '模型'],
    vendors: ['Vendors', '供应商'],
    prices: ['Prices', '价格'],
  },
});
