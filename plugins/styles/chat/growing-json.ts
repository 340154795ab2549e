/** Detects when JSON that arrives in pieces is complete, without parsing it again for each piece. */
import { parsed } from '../../../core/translation/index.ts';

/** Numbers and literals have no end mark; longer ones than this are not arguments of a call. */
const MAX_WORD = 64;

const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Creates an empty one. */
export function growJson() {
  let text = '';
  let depth = 0;
  let quoted = false;
  let escaped = false;
  let begun = false;
  /** The outermost value is closed. */
  let closed = false;
  /** Something follows the value. */
  let spoilt = false;
  /** The result of parsing, once the value was closed. */
  let isValid: boolean | undefined;

  function see(unit: number): void {
    if (escaped) escaped = false;
    else if (quoted) {
      if (unit === BACKSLASH) escaped = true;
      else if (unit === QUOTE) quoted = false;
      closed = !quoted && depth === 0;
    } else if (unit > SPACE) {
      spoilt ||= closed;
      begun = true;
      if (unit === QUOTE) quoted = true;
      else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) depth++;
      else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) closed = --depth <= 0;
    }
  }

  return {
    add(piece: string): void {
      text += piece;
      for (let i = 0; i < piece.length; i++) see(piece.charCodeAt(i));
    },
    /** All pieces so far. */
    text: (): string => text,
    isWhole(): boolean {
      if (!closed) return begun && depth === 0 && !quoted && text.length <= MAX_WORD && parsed(text) !== undefined;
      if (spoilt) return false;
      isValid ??= parsed(text) !== undefined;
      return isValid;
    },
  };
}

/** A JSON value that arrives in pieces. */
export type GrowingJson = ReturnType<typeof growJson>;
