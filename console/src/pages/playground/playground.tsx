/** What is typed, above what comes of it. */
import { SegmentedControl, Stack } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ModelCard } from '../../parts/model-card.ts';
import { Section } from '../../parts/page.tsx';
import { usePriceLine } from '../../parts/price-line.tsx';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import { bodyOf, goneOnWith, taskBodyOf } from './bodies.ts';
import type { CallState, Outgoing } from './calling.ts';
import { useCalls, useIsRunning } from './calls.ts';
import { type Choice, useChoice } from './choice.ts';
import { Column, type View } from './column.tsx';
import { Conversation } from './conversation.tsx';
import { KeyField, KindField, ModelField } from './head-fields.tsx';
import { resultsOf } from './hearing.ts';
import { goneOn, type Prompt, STYLES, type Style, TASKS, type Way } from './prompt.ts';
import { SendBar } from './send-bar.tsx';
import { Settings, Shapes } from './settings.tsx';
import { TaskFields } from './task-fields.tsx';
import { TEXT } from './text.ts';
import type { Step } from './tool-calls.tsx';
import { schemaIn, toolsIn } from './typed-json.ts';
import { type Reckoned, useEstimate } from './use-estimate.ts';
import { usePrompt } from './use-prompt.ts';

const RECKON_AFTER_MS = 500;
const NO_STEPS: readonly Step[] = [];

/** All of it. `owner`: whoever is signed in. */
export function Playground({ cards, owner }: { readonly cards: readonly ModelCard[]; readonly owner: number }) {
  const text = useText(TEXT);
  const priceLine = usePriceLine();
  const choice = useChoice(cards);
  const typing = usePrompt(owner);
  const [file, setFile] = useState<File>();
  const calls = useCalls();
  const isRunning = useIsRunning(calls);
  const [steps, setSteps] = useState<Readonly<Partial<Record<Way, readonly Step[]>>>>({});
  const composer = useRef<HTMLDivElement>(null);
  const answers = useRef<HTMLDivElement>(null);
  const { prompt, change } = typing;
  const { key: chosen, model, card, kind, ways } = choice;
  const keyId = chosen.key?.id;
  const why = useWhy(choice, prompt, file);

  const outgoing = useMemo(() => ways.map((way) => outgoingOf(way, model, prompt, file)), [ways, model, prompt, file]);
  const reckoned = useReckoned(choice, prompt, why === undefined);
  const refresh = useRefresh();

  const send = (): void => {
    if (why !== undefined || isRunning || keyId === undefined) return;
    setSteps({});
    for (const each of outgoing) calls.send(each, keyId, refresh);
    bringIntoView(answers.current);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const sendResults = useCallback(
    (call: CallState, given: readonly string[]): void => {
      const { way, body } = call.sent;
      const style = STYLES.find((each) => each === way);
      if (style === undefined || keyId === undefined) return;
      const wanted = call.answer.calls;
      setSteps((before) => ({ ...before, [way]: [...(before[way] ?? []), { calls: wanted, given }] }));
      const more = [...call.said, ...resultsOf(style, wanted, given)];
      calls.send({ way, body: goneOnWith(style, body, more) }, keyId, refresh);
    },
    [calls, keyId, refresh],
  );
  const goesOn = useRef(false);
  const goOn = useCallback(
    (said: string): void => {
      goesOn.current = true;
      change((before) => goneOn(before, said));
    },
    [change],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the new turn is there once the turns are others
  useEffect(() => {
    if (!goesOn.current) return;
    goesOn.current = false;
    [...(composer.current?.querySelectorAll<HTMLElement>('.pg-turn textarea') ?? [])].at(-1)?.focus();
  }, [prompt.turns]);

  return (
    <>
      <Section
        title={text.prompt}
        actions={<KindField kinds={choice.kinds} kind={kind} onChoose={(to) => choice.choose({ kind: to })} />}
      >
        <Stack gap="md" ref={composer}>
          <div className="pg-head">
            <ModelField
              names={choice.models}
              model={model}
              about={card && priceLine(card)}
              onChoose={(to) => choice.choose({ model: to })}
            />
            <KeyField chosen={chosen} />
          </div>
          {kind === 'chat' ? (
            <div className="pg-compose">
              <Stack gap="md">
                <Conversation typing={typing} seesPictures={card?.abilities.vision !== false} onKeyDown={onKeyDown} />
                <Shapes typing={typing} card={card} onKeyDown={onKeyDown} />
              </Stack>
              <Settings
                typing={typing}
                card={card}
                styles={choice.styles}
                onStyles={(styles) => choice.choose({ styles })}
                onKeyDown={onKeyDown}
              />
            </div>
          ) : (
            <TaskFields task={kind} typing={typing} file={file} onFile={setFile} onKeyDown={onKeyDown} />
          )}
        </Stack>
        <SendBar
          typing={typing}
          reckoned={reckoned}
          why={why}
          isRunning={isRunning}
          onSend={send}
          onStop={() => calls.stop()}
        />
      </Section>
      <div ref={answers} className="pg-answers">
        <Columns ways={ways}>
          {(way, at, view, onView) => (
            <Column
              key={way}
              calls={calls}
              outgoing={outgoing[at] ?? { way, body: {} }}
              isNative={card?.styles.find(({ name }) => name === way)?.native}
              steps={steps[way] ?? NO_STEPS}
              estimate={reckoned[at]?.estimate}
              view={view}
              onView={onView}
              onResults={kind === 'chat' ? sendResults : undefined}
              onGoOn={kind === 'chat' ? goOn : undefined}
            />
          )}
        </Columns>
      </div>
    </>
  );
}

/** Side by side where there is room, else one at a time. */
function Columns({
  ways,
  children,
}: {
  readonly ways: readonly Way[];
  children(way: Way, at: number, view: View, onView: (view: View) => void): React.ReactNode;
}) {
  const text = useText(TEXT);
  const { columns } = useText(ANSWER_TEXT);
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [looked, look] = useState<Way>();
  // All of them show the same, so that they can be compared.
  const [view, setView] = useState<View>('answer');
  const shown = ways.find((way) => way === looked) ?? ways[0];
  if (!isNarrow || ways.length < 2)
    return <div className="pg-columns">{ways.map((way, at) => children(way, at, view, setView))}</div>;
  return (
    <Stack gap="xs">
      <SegmentedControl
        fullWidth
        aria-label={columns}
        data={ways.map((way) => ({ value: way, label: way === 'chat' ? text.chatShort : text.ways[way] }))}
        value={shown}
        onChange={(value) => look(value as Way)}
      />
      {ways.map((way, at) => way === shown && children(way, at, view, setView))}
    </Stack>
  );
}

function outgoingOf(way: Way, model: string, prompt: Prompt, file: File | undefined): Outgoing {
  const task = TASKS.find((each) => each === way);
  if (task === undefined) return { way, body: bodyOf(way as Style, { model, prompt }) };
  const body = taskBodyOf(task, { model, prompt });
  return way === 'transcription' && file !== undefined ? { way, body, file } : { way, body };
}

/** Why nothing can be sent; undefined: it can. */
function useWhy({ model, key, kind, ways }: Choice, prompt: Prompt, file: File | undefined): string | undefined {
  const text = useText(TEXT);
  if (key.key === undefined) return text.needsKey;
  if (model === '') return text.why.model;
  if (kind === 'transcription') return file === undefined ? text.why.file : undefined;
  if (kind !== 'chat') return prompt.text.trim() === '' ? text.why.empty : undefined;
  if (ways.length === 0) return text.why.styles;
  if (toolsIn(prompt.tools).problem !== undefined) return text.why.tools;
  if (schemaIn(prompt.schema).problem !== undefined) return text.why.schema;
  const asks = prompt.turns.some(
    ({ role, text: said, pictures }) => role === 'user' && (said.trim() !== '' || pictures.length > 0),
  );
  return asks ? undefined : text.why.empty;
}

/** What each of the calls would come to, a moment after the last letter was typed; in the order of the ways. */
function useReckoned({ ways, model, key }: Choice, prompt: Prompt, isReady: boolean): readonly Reckoned[] {
  const [calm] = useDebouncedValue(prompt, RECKON_AFTER_MS);
  const asked = useMemo(
    () => new Map(isReady ? ways.map((way) => [way, outgoingOf(way, model, calm, undefined)]) : []),
    [ways, model, calm, isReady],
  );
  const keyId = key.key?.id;
  const styles = [
    useEstimate(asked.get('chat'), keyId),
    useEstimate(asked.get('responses'), keyId),
    useEstimate(asked.get('messages'), keyId),
  ];
  const task = useEstimate(TASKS.map((each) => asked.get(each)).find(Boolean), keyId);
  return ways.map((way) => styles[STYLES.indexOf(way as Style)] ?? task);
}

/** What a call changes elsewhere is read anew. */
function useRefresh(): () => void {
  const queries = useQueryClient();
  return useCallback(() => {
    for (const operation of ['GET /api/user/self', 'GET /api/log/self', 'GET /api/log/self/stat']) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
  }, [queries]);
}

/** Whoever sends wants to see what comes, and not where it would stand. */
function bringIntoView(element: HTMLElement | null): void {
  if (element !== null && element.getBoundingClientRect().top > window.innerHeight * 0.6) {
    element.scrollIntoView({ block: 'start' });
  }
}
