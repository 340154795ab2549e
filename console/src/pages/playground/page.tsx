/** The playground: one prompt through three APIs, with requests, answers and costs. */
import './playground.css';
import { SegmentedControl, Stack } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useApi, useSelf } from '../../api/hooks.ts';
import type { ModelCard } from '../../parts/model-card.ts';
import { Loaded, NoModels } from '../../parts/notes.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { usePriceLine } from '../../parts/price-line.tsx';
import { useAnswerText } from './answer-text.ts';
import { bodyOf, taskBodyOf, withToolResults } from './bodies.ts';
import type { CallState, Outgoing } from './calling.ts';
import { useCalls, useIsRunning } from './calls.ts';
import { Column, type View } from './column.tsx';
import { Conversation } from './conversation.tsx';
import { resultsOf } from './decoders.ts';
import { KeyField, KindField, ModelField, type Target, useChoice } from './head-fields.tsx';
import { continued, type Endpoint, type Prompt, STYLES, type Style, TASKS } from './prompt.ts';
import { SendBar } from './send-bar.tsx';
import { Settings, Shapes } from './settings.tsx';
import { TaskFields } from './task-fields.tsx';
import { useText } from './text.ts';
import type { Step } from './tool-calls.tsx';
import { schemaIn, toolsIn } from './typed-json.ts';
import { type CallEstimate, useEstimate } from './use-estimate.ts';
import { usePrompt } from './use-prompt.ts';

export default function PlaygroundPage() {
  const text = useText();
  const self = useSelf();
  const catalog = useApi('GET /api/models/catalog', undefined, { staleTime: 60_000 });
  return (
    <Page name="playground" about={text.about}>
      <Loaded query={catalog} height={360}>
        {(cards) =>
          cards.length === 0 || self === undefined ? <NoModels /> : <Playground cards={cards} owner={self.id} />
        }
      </Loaded>
    </Page>
  );
}

const RECKON_AFTER_MS = 500;
const NO_STEPS: readonly Step[] = [];

/** The playground. `owner`: the signed-in user. */
function Playground({ cards, owner }: { readonly cards: readonly ModelCard[]; readonly owner: number }) {
  const text = useText();
  const priceLine = usePriceLine();
  const choice = useChoice(cards);
  const typing = usePrompt(owner);
  const [file, setFile] = useState<File>();
  const calls = useCalls();
  const isRunning = useIsRunning(calls);
  const [steps, setSteps] = useState<Readonly<Partial<Record<Endpoint, readonly Step[]>>>>({});
  const composer = useRef<HTMLDivElement>(null);
  const answers = useRef<HTMLDivElement>(null);
  const { prompt, change } = typing;
  const { key: chosen, model, card, kind, ways } = choice;
  const keyId = chosen.key?.id;
  const why = useDisabledReason(choice, prompt, file);

  const outgoing = useMemo(
    () => ways.map((endpoint) => outgoingOf(endpoint, model, prompt, file)),
    [ways, model, prompt, file],
  );
  const reckoned = useEstimates(choice, prompt, why === undefined);
  const refresh = useRefresh();

  const send = (): void => {
    if (why !== undefined || isRunning || keyId === undefined) return;
    setSteps({});
    for (const each of outgoing) calls.send(each, keyId, refresh);
    scrollIntoView(answers.current);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const sendResults = useCallback(
    (call: CallState, results: readonly string[]): void => {
      const { endpoint, body } = call.sent;
      const style = STYLES.find((each) => each === endpoint);
      if (style === undefined || keyId === undefined) return;
      const toolCalls = call.answer.calls;
      setSteps((before) => ({ ...before, [endpoint]: [...(before[endpoint] ?? []), { calls: toolCalls, results }] }));
      const more = [...call.turns, ...resultsOf(style, toolCalls, results)];
      calls.send({ endpoint, body: withToolResults(style, body, more) }, keyId, refresh);
    },
    [calls, keyId, refresh],
  );
  const goesOn = useRef(false);
  const goOn = useCallback(
    (answer: string): void => {
      goesOn.current = true;
      change((before) => continued(before, answer));
    },
    [change],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the new turn is rendered after the turns changed
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
            <div className="columns pg-compose">
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
          {(endpoint, at, view, onView) => (
            <Column
              key={endpoint}
              calls={calls}
              outgoing={outgoing[at] ?? { endpoint, body: {} }}
              isNative={card?.styles.find(({ name }) => name === endpoint)?.native}
              steps={steps[endpoint] ?? NO_STEPS}
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

/** Columns side by side in wide windows, otherwise one at a time. */
function Columns({
  ways,
  children,
}: {
  readonly ways: readonly Endpoint[];
  children(endpoint: Endpoint, at: number, view: View, onView: (view: View) => void): React.ReactNode;
}) {
  const text = useText();
  const { columns } = useAnswerText();
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [looked, look] = useState<Endpoint>();
  // All columns show the same tab for comparison.
  const [view, setView] = useState<View>('answer');
  const active = ways.find((endpoint) => endpoint === looked) ?? ways[0];
  if (!isNarrow || ways.length < 2)
    return <div className="pg-columns">{ways.map((endpoint, at) => children(endpoint, at, view, setView))}</div>;
  return (
    <Stack gap="xs">
      <SegmentedControl
        fullWidth
        aria-label={columns}
        data={ways.map((endpoint) => ({
          value: endpoint,
          label: endpoint === 'chat' ? text.chatShort : text.ways[endpoint],
        }))}
        value={active}
        onChange={(value) => look(value as Endpoint)}
      />
      {ways.map((endpoint, at) => endpoint === active && children(endpoint, at, view, setView))}
    </Stack>
  );
}

function outgoingOf(endpoint: Endpoint, model: string, prompt: Prompt, file: File | undefined): Outgoing {
  const task = TASKS.find((each) => each === endpoint);
  if (task === undefined) return { endpoint, body: bodyOf(endpoint as Style, { model, prompt }) };
  const body = taskBodyOf(task, { model, prompt });
  return endpoint === 'transcription' && file !== undefined ? { endpoint, body, file } : { endpoint, body };
}

/** Why Send is disabled; undefined: it is enabled. */
function useDisabledReason(
  { model, key, kind, ways }: Target,
  prompt: Prompt,
  file: File | undefined,
): string | undefined {
  const text = useText();
  if (key.key === undefined) return text.needsKey;
  if (model === '') return text.why.model;
  if (kind === 'transcription') return file === undefined ? text.why.file : undefined;
  if (kind !== 'chat') return prompt.text.trim() === '' ? text.why.empty : undefined;
  if (ways.length === 0) return text.why.styles;
  if (toolsIn(prompt.tools).problem !== undefined) return text.why.tools;
  if (schemaIn(prompt.schema).problem !== undefined) return text.why.schema;
  const hasPrompt = prompt.turns.some(
    ({ role, text: content, pictures }) => role === 'user' && (content.trim() !== '' || pictures.length > 0),
  );
  return hasPrompt ? undefined : text.why.empty;
}

/** The estimates of the calls, debounced while the user types; in the order of the APIs. */
function useEstimates({ ways, model, key }: Target, prompt: Prompt, isReady: boolean): readonly CallEstimate[] {
  const [calm] = useDebouncedValue(prompt, RECKON_AFTER_MS);
  const requests = useMemo(
    () => new Map(isReady ? ways.map((endpoint) => [endpoint, outgoingOf(endpoint, model, calm, undefined)]) : []),
    [ways, model, calm, isReady],
  );
  const keyId = key.key?.id;
  const styles = [
    useEstimate(requests.get('chat'), keyId),
    useEstimate(requests.get('responses'), keyId),
    useEstimate(requests.get('messages'), keyId),
  ];
  const task = useEstimate(TASKS.map((each) => requests.get(each)).find(Boolean), keyId);
  return ways.map((endpoint) => styles[STYLES.indexOf(endpoint as Style)] ?? task);
}

/** Refetches what a call changes on other pages. */
function useRefresh(): () => void {
  const queries = useQueryClient();
  return useCallback(() => {
    for (const operation of ['GET /api/user/self', 'GET /api/log/self', 'GET /api/log/self/stat']) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
  }, [queries]);
}

function scrollIntoView(element: HTMLElement | null): void {
  if (element !== null && element.getBoundingClientRect().top > window.innerHeight * 0.6) {
    element.scrollIntoView({ block: 'start' });
  }
}
