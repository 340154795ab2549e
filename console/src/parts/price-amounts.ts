/** Prices as text: amounts in currency, and the rates of a price. */
import type * as api from '../api/operations.ts';
import { useFormat } from '../shell/format.ts';
import { type Pair, texts } from '../text.ts';

/** The price of a model from `/api`. */
export type Price = NonNullable<api.Price>;
/** The name of a rate. */
export type AmountField = keyof Omit<Price, 'free' | 'text'>;

/** All rates in the order in which they are listed. */
const AMOUNT_FIELDS = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWriteLong',
  'reasoning',
  'inputImage',
  'inputAudio',
  'outputImage',
  'outputAudio',
  'perImage',
  'perHour',
  'characters',
  'perRequest',
] as const satisfies readonly AmountField[];

/** Names of rates. */
export const AMOUNT_NAMES = {
  input: ['Input', '输入'],
  output: ['Output', '输出'],
  cacheRead: ['Cache read', '缓存读取'],
  cacheWrite: ['Cache write', '缓存写入'],
  cacheWriteLong: ['Cache write, 1 h', '缓存写入（1 小时）'],
  reasoning: ['Reasoning', '推理'],
  inputImage: ['Image input', '图片输入'],
  inputAudio: ['Audio input', '音频输入'],
  outputImage: ['Image output', '图片输出'],
  outputAudio: ['Audio output', '音频输出'],
  perImage: ['Image', '图片'],
  perHour: ['Audio transcribed', '转写的音频'],
  characters: ['Speech', '语音合成'],
  perRequest: ['Call', '每次调用'],
} satisfies Record<AmountField, Pair>;

/** Names and units of rates. */
export const useAmountText = texts({
  fields: AMOUNT_NAMES,
  units: {
    tokens: ['per 1M tokens', '每百万 Token'],
    image: ['per image', '每张图片'],
    hour: ['per hour', '每小时'],
    characters: ['per 1M characters', '每百万字符'],
    call: ['per call', '每次调用'],
  },
  short: {
    tokens: ['/1M', '/百万'],
    image: ['/image', '/张'],
    hour: ['/h', '/小时'],
    characters: ['/1M chars', '/百万字符'],
    call: ['/call', '/次'],
  },
  refused: ['No price: calls are refused', '没有价格：调用会被拒绝'],
  callsRefused: ['calls are refused', '调用会被拒绝'],
  inAndOut: [
    (input: string, output: string) => `${input} in, ${output} out per 1M tokens`,
    (input: string, output: string) => `每百万 Token：输入 ${input}，输出 ${output}`,
  ],
  quotaFor: [(quota: string, unit: string) => `${quota} ${unit}`, (quota: string, unit: string) => `${unit} ${quota}`],
});

/** The unit of a rate. */
export function unitOf(field: AmountField): keyof ReturnType<typeof useAmountText>['units'] {
  if (field === 'perImage') return 'image';
  if (field === 'perHour') return 'hour';
  if (field === 'characters') return 'characters';
  return field === 'perRequest' ? 'call' : 'tokens';
}

/** The rates of a price. */
export function amountsOf(price: Price): readonly (readonly [AmountField, string])[] {
  return AMOUNT_FIELDS.flatMap((field) => {
    const amount = price[field];
    return amount === undefined ? [] : [[field, amount] as const];
  });
}

/** Formats an amount in currency units with all its digits. */
export function useAmount(): (amount: string) => string {
  const { locale } = useFormat();
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: 12,
  });
  return (amount) => format.format(Number(amount));
}

/** Formats a price on one line: `Input $1.25 · Output $10.00 /1M`. Cache and other rates are left out. */
export function useShortPrice(): (price: Price) => string {
  const text = useAmountText();
  const amountText = useAmount();
  return (price) => {
    if (price.free) return text.words.free;
    const amounts = amountsOf(price);
    const inputAndOutput = amounts.filter(([field]) => field === 'input' || field === 'output');
    const visible = inputAndOutput.length > 0 ? inputAndOutput : amounts.slice(0, 2);
    return visible
      .map(([field, amount]) => `${text.fields[field]} ${amountText(amount)}${text.short[unitOf(field)]}`)
      .join(' · ');
  };
}
