/** Tables as CSV (RFC 4180), safe to be opened by a spreadsheet. */
import { type Answer, answer } from '../../../core/plugin.ts';

/** Spreadsheets treat cells that begin like this as formulas, even after spaces or with full-width signs. */
const FORMULA = /^(?:[\t\r\n\0]|[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** Encodes a cell. Numbers, negative ones included, stay numbers. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export type Rows = readonly (readonly (string | number)[])[];

/** Encodes rows. */
export function csvText(rows: Rows): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** An answer that a browser saves as `name.csv`. */
export function csvFile(name: string, text: string): Answer {
  return answer(200, text, csvHeaders(name));
}

const csvHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
});

/**
 * The same for a file of any size: its pieces are sent as they are made. The first one is made before the answer begins, so that a refusal is
 * one; a later failure truncates the file.
 */
export async function csvStream(name: string, pieces: AsyncIterator<string, void, void>): Promise<Answer> {
  const first = await pieces.next();
  async function* all(): AsyncGenerator<string, void, void> {
    try {
      if (first.done !== true) yield first.value;
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
    } finally {
      await pieces.return?.();
    }
  }
  return answer(200, all(), csvHeaders(name));
}

/** For the parameter that chooses a file, by the column: what those are that no member of an item is called. */
export function columnsNote(columns: Readonly<Record<string, string>>): string {
  const notes = Object.entries(columns).map(([column, meaning]) => `\`${column}\` is ${meaning}`);
  return `Columns have the names of members, but ${notes.join(', ')}. Times are ISO 8601 in UTC.`;
}

/** Rows per piece. */
const BITE = 500;

/** The rows that are read for a piece. */
export interface RowRange {
  readonly before?: number;
  readonly offset: number;
  readonly limit: number;
}

/**
 * A table of any size, whose first column is the id: `read` gets a number of rows; fewer than requested are the last. In the default order, newest
 * first, they are those below an id, so that none is read twice if others are created between two pages; otherwise (`isSorted`) they have an offset.
 */
export function csvTable(
  name: string,
  head: readonly string[],
  isSorted: boolean,
  read: (range: RowRange) => Promise<Rows>,
): Promise<Answer> {
  async function* pieces(): AsyncGenerator<string, void, void> {
    let rows = await read({ offset: 0, limit: BITE });
    yield csvText([head, ...rows]);
    for (let offset = BITE; rows.length === BITE; offset += BITE) {
      rows = await read({ limit: BITE, ...(isSorted ? { offset } : { offset: 0, before: Number(rows.at(-1)![0]) }) });
      yield csvText(rows);
    }
  }
  return csvStream(name, pieces());
}

/** The same for a small table without a footer. */
export function csvAnswer(name: string, head: readonly string[], rows: Rows): Answer {
  return csvFile(name, csvText([head, ...rows]));
}

/** A table to be exported, with its totals and a description. */
export interface Report {
  /** The file's name without its extension. */
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: Rows;
  /** The sums of the rows; the line begins with `total`. Undefined: the rows have no sum. */
  readonly total: readonly (string | number)[] | undefined;
  /** Lines below the table: the period and its time zone, the filters, the units. */
  readonly about: Rows;
}

/** Encodes a report as a file. */
export function reportFile({ name, head, rows, total, about }: Report): Answer {
  return csvFile(name, csvText([head, ...rows]) + reportEnd(head.length, total, about));
}

/**
 * The lines behind the rows of a report: sums and description. Each has as many cells as the header line, because CSV readers expect that.
 */
export function reportEnd(width: number, total: Report['total'], about: Report['about']): string {
  const lines = total === undefined ? about : [total, ...about];
  return csvText(lines.map((line) => [...line, ...Array<string>(Math.max(0, width - line.length)).fill('')]));
}
