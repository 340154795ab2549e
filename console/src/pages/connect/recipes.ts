/** The recipes that ship: files of `console/recipes`, by name of file. */
import { KINDS, type Kind, type Recipe } from './recipe.ts';

const files = import.meta.glob<Recipe>('../../../recipes/*.yaml', { eager: true, import: 'default' });

/** One of them, with what it is called in an address. */
export interface Client extends Recipe {
  readonly id: string;
}

/** All, by their kind and in order. */
export const CLIENTS: readonly Client[] = Object.entries(files)
  .map(([path, recipe]) => ({ ...recipe, id: path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length) }))
  .sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.order - b.order);

/** Those of a kind. */
export function clientsOf(kind: Kind): readonly Client[] {
  return CLIENTS.filter((client) => client.kind === kind);
}
