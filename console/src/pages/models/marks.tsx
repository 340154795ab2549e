/** Small elements for a model: health, APIs, capabilities. */
import { Badge, Group, Text, Tooltip } from '@mantine/core';
import { ABILITIES, type ModelCard, mainStyles } from '../../parts/model-card.ts';
import { Muted, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

const COLORS = { well: 'green', degraded: 'orange', down: 'red' } as const;

/** The health as a dot and a word. */
export function Health({ health }: Pick<ModelCard, 'health'>) {
  const text = useText();
  return (
    <Tooltip label={text.healthAbout[health]}>
      <Badge variant="dot" size="sm" color={COLORS[health]} miw="max-content" tabIndex={0}>
        {text.healths[health]}
      </Badge>
    </Tooltip>
  );
}

/** The APIs for its purpose; translated ones are marked. */
export function Styles({ card }: { readonly card: ModelCard }) {
  const text = useText();
  const nameOf = useStyleName();
  const names = mainStyles(card);
  const native = names.filter((style) => style.native).map(({ name }) => nameOf(name));
  const translated = names.filter((style) => !style.native).map(({ name }) => nameOf(name));
  return (
    <Text size="sm" component="div" miw="12rem">
      {native.join(', ')}
      {translated.length > 0 && <Small>{text.translatedList(translated.join(', '))}</Small>}
    </Text>
  );
}

/** The name of an API. */
export function useStyleName(): (style: string) => string {
  const { styles } = useText();
  return (style) => styles[style as keyof typeof styles] ?? style;
}

/** Its known capabilities. */
export function Abilities({ abilities }: Pick<ModelCard, 'abilities'>) {
  const text = useText();
  const supported = ABILITIES.filter((ability) => abilities[ability] === true);
  if (supported.length === 0) return null;
  return (
    <Group gap={4}>
      {supported.map((ability) => (
        <Badge key={ability} size="sm" color="gray" miw="max-content">
          {text.abilities[ability]}
        </Badge>
      ))}
    </Group>
  );
}

/** Its purpose in words. */
export function usePurposes(): (purposes: readonly (keyof ReturnType<typeof useText>['purposes'])[]) => string {
  const text = useText();
  return (purposes) => purposes.map((purpose) => text.purposes[purpose]).join(', ');
}

/** The share of recent calls that were served. */
export function Recent({ recent }: Pick<ModelCard, 'recent'>) {
  const text = useText();
  const format = useFormat();
  const { success_share: share, since, attempts } = recent;
  if (share === null) return <Muted span>{text.words.noneSinceStart}</Muted>;
  return (
    <Tooltip
      label={
        attempts === 1
          ? text.oneCallSince(format.moment(since))
          : text.callsSince(format.number(attempts), format.moment(since))
      }
    >
      <span className="number">{text.served(format.percent(share))}</span>
    </Tooltip>
  );
}

/** The time to first byte. */
export function FirstByte({ ms }: { readonly ms: number | null }) {
  const format = useFormat();
  return ms === null ? <Muted span>–</Muted> : <span className="number">{format.duration(ms)}</span>;
}
