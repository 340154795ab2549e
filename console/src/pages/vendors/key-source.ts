/** Whence the key of a channel comes, as gateway.yaml writes it. */

/** A variable of the environment, or a file. */
export interface KeySource {
  readonly kind: 'variable' | 'file';
  readonly name: string;
}

/**
 * Looks for it in the text of the file: the `key` of the list item that has the name of the channel. Undefined where it is not
 * written as `${NAME}` or `${file:PATH}` there.
 */
export function keySourceOf(channel: string, file: string): KeySource | undefined {
  const item = file
    .split(/^(?=[ \t]*-[ \t])/m)
    // The last item of a list ends where the next section begins.
    .map((text) => text.split(/\n(?=[^\s#-])/)[0] ?? '')
    .find((text) => /^(?!\s*#).*?\bname:\s*(["']?)([\w.-]+)\1/m.exec(text)?.[2] === channel);
  const key = /^(?!\s*#).*?\bkey:\s*["']?\$\{(file:)?([^}:]+)/m.exec(item ?? '');
  if (key === null) return undefined;
  const [, isFile, name = ''] = key;
  return { kind: isFile === undefined ? 'variable' : 'file', name };
}
