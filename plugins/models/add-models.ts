/** Adds models to the section `models` of the configuration: everything else stays as it is, comments included. */
import { type Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import type { Configuring, Saved } from '../../core/contracts/configuring.ts';
import { errors } from './errors.ts';

/**
 * Adds models of a channel that the configuration does not have, and loads it. Refuses (409) if the text cannot be edited, saved or loaded: then
 * nothing has changed.
 */
export async function addModels(
  { configuring, audit }: { readonly configuring: Configuring; readonly audit: Audit | undefined },
  names: readonly string[],
  channel: string,
): Promise<void> {
  const { text, revision } = await configuring.current();
  const edits = names.map((name) => ({ path: ['models', name], value: { from: [channel] } }));
  const edited = await configuring.edit(text, edits).catch((error: unknown) => {
    throw error instanceof RangeError ? errors.models_not_added(error.message) : error;
  });
  const note = `models list ${channel} --add`;
  const saved = await configuring.save({
    text: edited.text,
    revision,
    note,
    actor: COMMAND_LINE,
    steps: (version) =>
      audit?.steps({
        actor: COMMAND_LINE,
        action: 'config.save',
        object: 'gateway.yaml',
        facts: { version, note },
      }) ?? [],
  });
  const problem = problemOf(saved);
  if (problem !== undefined) throw errors.models_not_added(problem);
}

/** Why nothing was saved. */
function problemOf(saved: Saved): string | undefined {
  switch (saved.outcome) {
    case 'saved':
      return undefined;
    case 'conflict':
      return 'it was changed at the same time; run the command again';
    case 'refused':
      return saved.reason.message;
    case 'wrong':
      return saved.problems
        .map(({ line, column, path, message }) => `${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`)
        .join('; ');
  }
}
