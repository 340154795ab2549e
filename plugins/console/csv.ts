/** Tables as CSV (RFC 4180), safe to be opened by a spreadsheet. */
import { type Answer, answer } from '../../core/plugin.ts';

/** A cell that begins like this is a formula to a spreadsheet, whoever wrote it; some leave out space in front, or know wide signs. */
const FORMULA = /^(?:[\t\r\n\0]|[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** One cell. Numbers stay numbers, below zero too. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type Rows = readonly (readonly (string | number)[])[];

/** Lines of a table. */
export function csvText(rows: Rows): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** An answer that a browser saves as `name.csv`. */
export function csvFile(name: string, text: string): Answer {
  return answer(200, text, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}

/** The same of a small table. */
export function csvAnswer(name: string, head: readonly string[], rows: Rows): Answer {
  return csvFile(name, csvText([head, ...rows]));
}
