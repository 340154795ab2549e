/** The source of a channel's key in gateway.yaml. */

/** An environment variable or a file. */
export interface KeySource {
  readonly kind: 'variable' | 'file';
  readonly name: string;
}

/**
 * Finds it in the text of the file: the `key` of the list item with the name of the channel. Undefined unless it is
 * written as `${NAME}` or `${file:PATH}`.
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
