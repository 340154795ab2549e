/** Types of check-links.mjs, which runs without a TypeScript loader. */
export function linksWithin(
  files: Iterable<string>,
  textOf: (page: string) => string,
): { readonly count: number; readonly wrong: readonly string[] };
