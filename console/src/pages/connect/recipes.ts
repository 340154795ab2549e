/** The recipes in `console/recipes`, by file name. */
import { KINDS, type Kind, type Recipe } from './recipe.ts';

const files = import.meta.glob<Recipe>('../../../recipes/*.yaml', { eager: true, import: 'default' });

/** A recipe with its name in addresses. */
export interface Client extends Recipe {
  readonly id: string;
}

/** All recipes by kind, in order. */
export const CLIENTS: readonly Client[] = Object.entries(files)
  .map(([path, recipe]) => ({ ...recipe, id: path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length) }))
  .sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.order - b.order);

/** The recipes of a kind. */
export function clientsOf(kind: Kind): readonly Client[] {
  return CLIENTS.filter((client) => client.kind === kind);
}
