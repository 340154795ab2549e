/** Selects a model that the key can call and that supports the client's API. */
import { Select } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import type { Key } from '../../parts/chosen-key.ts';
import { useText } from '../../text.ts';
import type { Style } from './recipe.ts';
import { TEXT } from './text.ts';

/** The matching models; undefined while loading. */
export function useModels(style: Style, key: Key | undefined): readonly string[] | undefined {
  const { data } = useApi('GET /api/models/catalog', undefined, { staleTime: 60_000 });
  const scope = key?.model_limits_enabled === true ? new Set((key.model_limits ?? '').split(',')) : undefined;
  return data
    ?.filter(({ name, styles, purposes }) => {
      const talks = purposes === null || purposes.includes('chat');
      return talks && styles.some((each) => each.name === style) && scope?.has(name) !== false;
    })
    .map(({ name }) => name);
}

/** The field. */
export function ModelField({
  models,
  style,
  model,
  onChoose,
}: {
  readonly models: readonly string[] | undefined;
  readonly style: Style;
  readonly model: string;
  onChoose(model: string): void;
}) {
  const text = useText(TEXT);
  return (
    <Select
      label={text.model}
      description={text.modelAbout(style)}
      data={model !== '' && models?.includes(model) === false ? [model, ...models] : [...(models ?? [])]}
      value={model === '' ? null : model}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      placeholder={models?.length === 0 ? text.noModel : undefined}
      nothingFoundMessage={text.noModelFound}
      limit={50}
      searchable
      allowDeselect={false}
    />
  );
}
