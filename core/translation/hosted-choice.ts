/** A tool choice that selects vendor-side tools, for styles in which only functions can be selected. */
import type { Tool, ToolChoice } from '../contracts/conversation.ts';

/** Whether all selected tools are vendor-side. Then no function may be forced instead. */
export function choosesHosted(tools: readonly Tool[], choice: ToolChoice | undefined): boolean {
  if (choice?.only === undefined || choice.mode === 'none') return false;
  const names = new Set(choice.only);
  const chosen = tools.filter(({ name }) => names.has(name));
  return chosen.length > 0 && chosen.every(({ type }) => type === 'hosted');
}
