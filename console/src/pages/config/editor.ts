/** What the parts of the editor share: the configuration, its schema, the working copy, and how forms change it. */
import { type Body, call, type Data, type Operation } from '../../api/client.ts';
import { type ActionOptions, useAction } from '../../api/hooks.ts';
import type { ConfigRemark, Configuration } from '../../api/operations.ts';
import type { Schema } from './facts.ts';
import type { Edit, Members } from './settings.ts';
import type { WorkingCopy } from './working-copy.ts';

/** What a saved configuration changes. */
export const CHANGED_BY_SAVING = [
  'GET /api/config',
  'GET /api/config/schema',
  'GET /api/config/versions',
  'GET /api/config/versions/{id}',
  'GET /api/system',
  'GET /api/vendor/',
  'GET /api/vendor/routes',
  'GET /api/price/',
  'GET /api/user/models',
  'GET /api/models/catalog',
  'GET /api/status',
] as const satisfies readonly Operation[];

/** The editor. */
export interface Editor {
  readonly config: Configuration;
  readonly schema: Schema | undefined;
  readonly copy: WorkingCopy;
  /** The settings of the working copy; undefined if it is not a YAML mapping. */
  readonly settings: Members | undefined;
  /** The settings of the saved configuration. */
  readonly savedSettings: Members | undefined;
  /** Why nothing can be saved; undefined: it can be. */
  readonly why: string | undefined;
}

/** Applies edits to a text, comments and order kept, and checks the result. Nothing is saved. */
export function editedText(text: string, edits: readonly Edit[]): Promise<Data<'POST /api/config/edit'>> {
  // The generated type of a value of any kind is that of an object.
  return call('POST /api/config/edit', { body: { text, edits } as Body<'POST /api/config/edit'> });
}

/** Applies edits to the working copy, comments and order kept. `wrong` gets the errors of the result; true: it is not taken over. */
export function useEdits(
  { copy }: Pick<Editor, 'copy'>,
  {
    done,
    wrong,
    refused,
  }: {
    done(): void;
    wrong?(problems: readonly ConfigRemark[]): boolean;
    readonly refused?: NonNullable<ActionOptions<readonly Edit[], unknown>['refused']>;
  },
) {
  return useAction((edits: readonly Edit[]) => editedText(copy.text, edits), {
    done({ text, problems }) {
      if (wrong?.(problems) === true) return;
      copy.write(text);
      done();
    },
    ...(refused !== undefined && { refused }),
  });
}
