/** Tool names on both sides: valid names for the vendor, without namespaces, and the way back. */
import { aliasesOf, type NameRule } from './short-names.ts';

/** A tool by the client's name. */
export interface ToolName {
  readonly name: string;
  readonly namespace?: string;
}

/** A tool as the client declared it. */
export interface ClientTool extends ToolName {
  /** A custom tool, which is a function only for the vendor. */
  readonly wrapped: boolean;
}

/** Grows while a conversation is read: the first declared tool keeps its name. */
export interface ToolNames {
  /** The vendor's name. */
  vendor(tool: ToolName, wrapped: boolean): string;
  /** Tools that differ for the client, by the vendor's name. */
  changed(): ReadonlyMap<string, ClientTool>;
}

/** No names yet. */
export function createToolNames(rule: NameRule): ToolNames {
  let names: Names | undefined;

  return {
    vendor(tool, wrapped) {
      // Most conversations have no tools.
      names ??= { byClient: new Map(), taken: new Set(), changed: new Map() };
      const { byClient, taken, changed } = names;
      const known = byClient.get(keyOf(tool));
      if (known !== undefined) return known;
      const aliases = aliasesOf(rule);
      const flat = flatName(tool);
      const alias = aliases.of(flat);
      const name = taken.has(alias) ? aliases.apart(`${alias} ${keyOf(tool)}`) : alias;
      byClient.set(keyOf(tool), name);
      taken.add(name);
      if (name !== tool.name || tool.namespace !== undefined || wrapped) changed.set(name, { ...tool, wrapped });
      return name;
    },
    changed() {
      return names?.changed ?? NONE;
    },
  };
}

interface Names {
  readonly byClient: Map<string, string>;
  readonly taken: Set<string>;
  readonly changed: Map<string, ClientTool>;
}

const NONE: ReadonlyMap<string, ClientTool> = new Map();

/** The name of a tool with its namespace, for styles without namespaces. */
export function flatName({ name, namespace }: ToolName): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function keyOf({ name, namespace }: ToolName): string {
  return JSON.stringify([namespace ?? null, name]);
}
