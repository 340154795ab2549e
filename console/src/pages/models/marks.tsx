/** Small things that stand for what is known of a model: its health, its styles, what it can do. */
import { Badge, Group, Text, Tooltip } from '@mantine/core';
import { ABILITIES, type ModelCard, mainStyles } from '../../parts/model-card.ts';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

const COLORS = { well: 'green', degraded: 'orange', down: 'red' } as const;

/** How it does: a dot, and the word. */
export function Health({ health }: Pick<ModelCard, 'health'>) {
  const text = useText(TEXT);
  return (
    <Tooltip label={text.healthAbout[health]}>
      <Badge variant="dot" size="sm" color={COLORS[health]} miw="max-content" tabIndex={0}>
        {text.healths[health]}
      </Badge>
    </Tooltip>
  );
}

/** The styles that matter for what it is for, those that are translated told apart. */
export function Styles({ card }: { readonly card: ModelCard }) {
  const text = useText(TEXT);
  const nameOf = useStyleName();
  const asked = mainStyles(card);
  const native = asked.filter((style) => style.native).map(({ name }) => nameOf(name));
  const translated = asked.filter((style) => !style.native).map(({ name }) => nameOf(name));
  return (
    <Text size="sm" component="div" miw="12rem">
      {native.join(', ')}
      {translated.length > 0 && (
        <Text size="xs" c="dimmed">
          {text.translatedList(translated.join(', '))}
        </Text>
      )}
    </Text>
  );
}

/** What a style is called. */
export function useStyleName(): (style: string) => string {
  const { styles } = useText(TEXT);
  return (style) => styles[style as keyof typeof styles] ?? style;
}

/** What it is known to be able to do. */
export function Abilities({ abilities }: Pick<ModelCard, 'abilities'>) {
  const text = useText(TEXT);
  const known = ABILITIES.filter((ability) => abilities[ability] === true);
  if (known.length === 0) return null;
  return (
    <Group gap={4}>
      {known.map((ability) => (
        <Badge key={ability} size="sm" color="gray" miw="max-content">
          {text.abilities[ability]}
        </Badge>
      ))}
    </Group>
  );
}

/** What it is for, in words. */
export function usePurposes(): (purposes: readonly (keyof (typeof TEXT)['en']['purposes'])[]) => string {
  const text = useText(TEXT);
  return (purposes) => purposes.map((purpose) => text.purposes[purpose]).join(', ');
}

/** How its last calls went. */
export function Recent({ recent }: Pick<ModelCard, 'recent'>) {
  const text = useText(TEXT);
  const format = useFormat();
  const { success_share: share, since, attempts } = recent;
  if (share === null)
    return (
      <Text span size="sm" c="dimmed">
        {text.noCalls}
      </Text>
    );
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

/** The time to the first byte. */
export function FirstByte({ ms }: { readonly ms: number | null }) {
  const format = useFormat();
  return ms === null ? (
    <Text span size="sm" c="dimmed">
      –
    </Text>
  ) : (
    <span className="number">{format.duration(ms)}</span>
  );
}
