/** Names of channels. */

/** The longest part of a channel's name that is kept, so that an identifier fits behind it. */
const LONGEST = 50;

/**
 * Makes names of letters, digits, dots, dashes and underscores, each different. A title without any of them becomes `channel-5`, with the identifier
 * of the channel, and so does the second of two equal ones: a second import gives the same names.
 */
export function channelNames(): (title: string, id: string) => string {
  const taken = new Set<string>();
  return (title, id) => {
    const plain = title
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+|[-.]+$/g, '')
      .slice(0, LONGEST);
    let name = plain === '' ? `channel-${id}` : plain;
    if (taken.has(name)) name = `${name}-${id}`;
    for (let number = 2; taken.has(name); number++) name = `${name}-${number}`;
    taken.add(name);
    return name;
  };
}
