/** Account events, as steps for the list that makes the change. */
import type { AccountEvent } from '../../core/contracts/records.ts';
import type { Step } from '../../core/plugin.ts';
import { additionSteps } from './additions.ts';
import { newId } from './ids.ts';

/** The maximum length of a sentence, in characters. */
const LONGEST_TEXT = 1_000;

/** The steps that write an event at `atMs`. */
export function eventSteps(event: AccountEvent, atMs: number): readonly Step[] {
  const { accountId, kind, amount, text, ip } = event;
  const id = newId(atMs);
  const nothing = { keyId: 0, model: '', channel: '', departmentId: 0, repeats: 0, included: 0n, input: 0, output: 0 };
  return [
    ...additionSteps({ id, accountId, kind, lines: 1, amount, ...nothing }),
    {
      sql: 'INSERT INTO account_event (account_id, id, at_ms, kind, amount, text, ip) VALUES (?, ?, ?, ?, ?, ?, ?)',
      params: [accountId, id, atMs, kind, amount, text.slice(0, LONGEST_TEXT), ip],
    },
  ];
}
