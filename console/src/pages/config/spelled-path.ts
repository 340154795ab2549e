/** Paths of settings as text. */

/** A path as problems name it: `channels[0].vendor`, `models["gpt-5.5"]`. */
export function spelledPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w$-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
