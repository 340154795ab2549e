/** The account statement of a month as a page to print: balances and sums by day. */
import type { Answer } from '../../../core/plugin.ts';
import { escaped, type PageLanguage, printPage } from './print-page.ts';

const TEXTS = {
  en: {
    title: 'Account statement',
    account: 'Account',
    month: 'Month (UTC)',
    made: 'Created',
    unit: 'Amounts in currency units',
    day: 'Day',
    opening: 'Opening balance',
    credits: 'Credits',
    debits: 'Debits',
    refunds: 'Refunds',
    closing: 'Closing balance',
    calls: 'Calls',
    total: 'Month',
    soFar: 'The month has not ended yet.',
  },
  zh: {
    title: '账户对账单',
    account: '账户',
    month: '月份（UTC）',
    made: '生成时间',
    unit: '金额以货币单位表示',
    day: '日期',
    opening: '期初余额',
    credits: '入账',
    debits: '支出',
    refunds: '退款',
    closing: '期末余额',
    calls: '调用次数',
    total: '本月',
    soFar: '本月尚未结束。',
  },
} as const satisfies Readonly<Record<PageLanguage, Readonly<Record<string, string>>>>;

/** Amounts as decimal numbers of currency units. */
export interface StatementLine {
  /** A day; empty for the month. */
  readonly date: string;
  readonly opening: string;
  readonly credits: string;
  readonly debits: string;
  readonly refunds: string;
  readonly closing: string;
  readonly requests: number;
}

/** The page. Days without movements are left out; `total` is the line of the month. */
export function statementPage({
  site,
  account,
  month,
  madeAt,
  isOpen,
  days,
  total,
  language,
}: {
  readonly site: string;
  readonly account: string;
  /** `2026-11`. */
  readonly month: string;
  readonly madeAt: string;
  /** The month has not ended. */
  readonly isOpen: boolean;
  readonly days: readonly StatementLine[];
  readonly total: StatementLine;
  readonly language: PageLanguage;
}): Answer {
  const text = TEXTS[language];
  const columns = ['opening', 'credits', 'debits', 'refunds', 'closing'] as const;
  const cells = (line: StatementLine): string =>
    `${columns.map((column) => `<td>${line[column]}</td>`).join('')}<td>${line.requests}</td>`;
  const facts = [
    [text.account, account],
    [text.month, month],
    [text.made, madeAt],
  ] as const;
  const sheets = `<article>
<h1>${text.title}</h1>
<p>${escaped(site)}</p>
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>
<p>${text.unit}. ${isOpen ? text.soFar : ''}</p>
<div class="wide" role="region" aria-label="${text.title}" tabindex="0"><table class="amounts">
<thead><tr><th scope="col">${text.day}</th>${columns.map((column) => `<th scope="col">${text[column]}</th>`).join('')}<th scope="col">${text.calls}</th></tr></thead>
<tbody>${days.map((line) => `<tr><th scope="row">${line.date}</th>${cells(line)}</tr>`).join('')}</tbody>
<tfoot><tr class="total"><th scope="row">${text.total}</th>${cells(total)}</tr></tfoot>
</table></div>
</article>`;
  return printPage({ title: `${text.title} ${month}`, language, sheets });
}
