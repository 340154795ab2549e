/** A choice among tools that means the vendor's own, for styles in which only functions can be chosen. */
import type { Tool, ToolChoice } from '../contracts/conversation.ts';

/** Whether all that is chosen are tools the vendor runs. Nobody means the functions then, and none may be forced in their place. */
export function choosesHosted(tools: readonly Tool[], choice: ToolChoice | undefined): boolean {
  if (choice?.only === undefined || choice.mode === 'none') return false;
  const names = new Set(choice.only);
  const chosen = tools.filter(({ name }) => names.has(name));
  return chosen.length > 0 && chosen.every(({ type }) => type === 'hosted');
}
