/** Types of console-build.mjs, which runs without a TypeScript loader. */
export const DIST: string;
export function stampOfSources(): string;
export function stampOf(dir: string): string | undefined;
export function buildConsole(dir: string): Promise<void>;
