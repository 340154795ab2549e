/** The estimated cost and the Send button. */
import { Button, Group, Kbd, Text } from '@mantine/core';
import { IconEraser, IconPlayerStop, IconSend } from '../../icons.ts';
import { causeOf } from '../../parts/call-failure.ts';
import { useFailureText } from '../../parts/call-failure-note.tsx';
import { GuardedButton, Muted, PlainButton, Small } from '../../parts/page.tsx';
import { Money } from '../../parts/values.tsx';
import { useText } from './text.ts';
import type { CallEstimate } from './use-estimate.ts';
import type { PromptState } from './use-prompt.ts';

const NOWHERE = { channel: '', requestId: '', retryAfter: undefined };

/** The bar. */
export function SendBar({
  typing,
  reckoned,
  why,
  isRunning,
  onSend,
  onStop,
}: {
  readonly typing: PromptState;
  /** One for each call. */
  readonly reckoned: readonly CallEstimate[];
  /** Why Send is disabled; undefined: it is enabled. */
  readonly why: string | undefined;
  readonly isRunning: boolean;
  onSend(): void;
  onStop(): void;
}) {
  const text = useText();
  return (
    <Group justify="space-between" gap="sm" className="pg-send">
      <Text size="sm" component="div" aria-live="polite" miw={0} flex="1 1 16rem">
        {why === undefined && <Price reckoned={reckoned} />}
      </Text>
      <Group gap="xs">
        {typing.undo === undefined ? (
          <Button variant="subtle" leftSection={<IconEraser size={14} />} onClick={typing.clear}>
            {text.clear}
          </Button>
        ) : (
          <Button variant="subtle" onClick={typing.undo}>
            {text.undo}
          </Button>
        )}
        {isRunning && (
          <PlainButton leftSection={<IconPlayerStop size={14} />} onClick={onStop}>
            {text.words.stop}
          </PlainButton>
        )}
        <Kbd size="xs" visibleFrom="sm">
          {text.sendShort}
        </Kbd>
        <GuardedButton
          variant="filled"
          leftSection={<IconSend size={14} />}
          why={isRunning ? text.why.running : why}
          onClick={onSend}
        >
          {text.send}
        </GuardedButton>
      </Group>
    </Group>
  );
}

function Price({ reckoned }: { readonly reckoned: readonly CallEstimate[] }) {
  const text = useText().price;
  const { causes } = useFailureText();
  const estimates = reckoned.flatMap(({ estimate }) => estimate ?? []);
  const refusals = estimates.flatMap(({ refusal }) => refusal ?? []);
  const refused = refusals.length;
  const why = [...new Set(refusals.map((each) => causes[causeOf({ ...NOWHERE, ...each })]))].join(' ');
  const priced = estimates.filter((each) => each.refusal === null && each.at_most !== null);
  const units = priced.reduce((sum, { at_most: most }) => sum + (most ?? 0), 0);
  const grows = priced.some(({ may_grow: may }) => may);
  if (estimates.length === 0)
    return (
      <Muted span>
        {reckoned.some(({ isReading }) => isReading)
          ? text.reading
          : reckoned.some(({ isLarge }) => isLarge)
            ? text.large
            : text.unknown}
      </Muted>
    );
  return (
    <>
      {priced.length > 0 && (
        <>
          {units === 0 ? (
            <strong>{text.free}</strong>
          ) : (
            <>
              {(grows ? text.about : text.atMost)(priced.length)}{' '}
              <strong>
                <Money units={units} />
              </strong>
            </>
          )}
          {grows && units > 0 && <Small>{text.grows}</Small>}
        </>
      )}
      {refused > 0 && (
        <Text size="sm" c="red">
          {reckoned.length === 1 ? text.refused : text.someRefused(refused)} {why}
        </Text>
      )}
    </>
  );
}
