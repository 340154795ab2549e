/** The models of a new channel: chosen from the list of its vendor or typed, with their price, and tried before they are saved. */
import {
  Alert,
  Box,
  Button,
  Checkbox,
  Group,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { ConfigRemark, ConfigTry } from '../../api/operations.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { meaningOf } from '../vendors/channel-drawer.tsx';
import { useText as useVendorText } from '../vendors/text.ts';
import { type Editor, editedText } from './editor.ts';
import { itemSchemaOf } from './fields.ts';
import { SchemaFields } from './schema-fields.tsx';
import { type Edit, fromOf, type Members, membersOf, modelsOfChannel, offersOf, type Value } from './settings.ts';
import { useText } from './settings-text.ts';
import { spelledPath } from './spelled-path.ts';

/** The vendor's list; undefined if it has none. */
export type Offered = readonly { readonly id: string; readonly taken: boolean }[] | undefined;

/** The text with the channel and its models. */
export interface TakenModels {
  readonly text: string;
  /** Those that clients can call. */
  readonly models: readonly string[];
  /** What is wrong with the others: they have no price. */
  readonly warnings: readonly string[];
}

type Pricing = 'published' | 'own' | 'free';

/** The step. */
export function TakeModels({
  editor,
  channel,
  channelEdits,
  offered,
  onBack,
  onTaken,
}: {
  readonly editor: Editor;
  readonly channel: string;
  /** Those that add the channel, or give it its key. */
  readonly channelEdits: readonly Edit[];
  readonly offered: Offered;
  onBack(): void;
  onTaken(taken: TakenModels): void;
}) {
  const text = useText();
  const settings = editor.settings ?? {};
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [typed, setTyped] = useState('');
  const [isStarred, setStarred] = useState(false);
  const [pricing, setPricing] = useState<Pricing>('published');
  const [price, setPrice] = useState<Members>({});
  const [wrong, setWrong] = useState<readonly string[]>([]);
  const list = offered === undefined || offered.length === 0 ? undefined : offered;
  const names = list === undefined ? [...new Set(typed.split(/[\s,]+/).filter((name) => name !== ''))] : [...chosen];
  const present = [...modelsOfChannel(membersOf(settings.models), channel).keys()];
  const shared: Members =
    pricing === 'free' ? { free: true } : pricing === 'own' && Object.keys(price).length > 0 ? { price } : {};

  /** The channel, and its models: new ones, or one more channel of those that are there. */
  const edits = (): readonly Edit[] => {
    const models = membersOf(settings.models);
    const added = names.flatMap((name): readonly Edit[] => {
      const before = models[name];
      if (before === undefined) return [{ path: ['models', name], value: { from: [channel], ...shared } }];
      const offers = offersOf(membersOf(before).from);
      // An alias keeps its meaning.
      if (membersOf(before).alias !== undefined || offers.some(([of]) => of === channel)) return [];
      return [{ path: ['models', name, 'from'], value: fromOf([...offers, [channel, '']]) }];
    });
    const star: Value = { from: [{ [channel]: '*' }], ...shared };
    return [
      ...channelEdits,
      ...added,
      ...(isStarred ? [{ path: ['models', `${channel}/*`], value: star } as const] : []),
    ];
  };
  const taking = useAction(() => editedText(editor.copy.text, edits()), {
    done({ text: candidate, problems, warnings }) {
      const line = ({ path, message }: ConfigRemark): string => (path === '' ? message : `\`${path}\` ${message}`);
      setWrong(problems.map(line));
      if (problems.length > 0) return;
      const warningOf = (name: string) => warnings.find(({ path }) => path === spelledPath(['models', name]));
      const models = [...names, ...present];
      onTaken({
        text: candidate,
        models: [...models.filter((name) => warningOf(name) === undefined), ...(isStarred ? [`${channel}/…`] : [])],
        warnings: models.map(warningOf).flatMap((found) => (found === undefined ? [] : [line(found)])),
      });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        taking.mutate();
      }}
    >
      <Stack gap="md">
        {list === undefined ? (
          <Textarea
            label={text.words.models}
            description={offered === undefined ? text.typeModels : text.emptyList}
            autosize
            minRows={2}
            maxRows={10}
            spellCheck={false}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        ) : (
          <ModelList offered={list} chosen={chosen} onChosen={setChosen} />
        )}
        <Checkbox
          label={<Coded>{text.star(`${channel}/*`)}</Coded>}
          description={text.starAbout}
          checked={isStarred}
          onChange={({ currentTarget }) => setStarred(currentTarget.checked)}
        />
        <Radio.Group label={text.words.price} value={pricing} onChange={(next) => setPricing(next as Pricing)}>
          <Stack gap="xs" mt={4}>
            {(['published', 'own', 'free'] as const).map((each) => (
              <Radio key={each} value={each} label={text.pricings[each]} />
            ))}
          </Stack>
        </Radio.Group>
        {pricing === 'own' && (
          <SimpleGrid cols={2} spacing="sm">
            <SchemaFields
              members={itemSchemaOf(editor.schema?.properties?.prices).properties ?? {}}
              names={['input', 'output']}
              value={price}
              within="price."
              onChange={setPrice}
            />
          </SimpleGrid>
        )}
        <TryModel editor={editor} channel={channel} edits={edits} names={[...names, ...present]} />
        <Box role="status">
          <Lines color="red" title={text.cannotSave} lines={wrong} />
        </Box>
        <Group justify="flex-end" gap="xs">
          <PlainButton onClick={onBack}>{text.back}</PlainButton>
          <Button type="submit" loading={taking.isPending} disabled={names.length + present.length === 0 && !isStarred}>
            {text.review}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Beyond this number, a list is searched rather than scrolled. */
const MOST = 200;

function ModelList({
  offered,
  chosen,
  onChosen,
}: {
  readonly offered: NonNullable<Offered>;
  readonly chosen: ReadonlySet<string>;
  onChosen(chosen: ReadonlySet<string>): void;
}) {
  const text = useText();
  const format = useFormat();
  const [search, setSearch] = useState('');
  const query = search.trim().toLowerCase();
  const found = offered.filter(({ id }) => id.toLowerCase().includes(query));
  const free = found.filter(({ taken }) => !taken);
  const isAll = free.length > 0 && free.every(({ id }) => chosen.has(id));
  const toggle = (ids: readonly string[], on: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    onChosen(next);
  };
  return (
    <Box component="fieldset" className="model-list">
      <legend>{text.offered(format.number(offered.length))}</legend>
      <Stack gap="xs">
        {offered.length > 10 && (
          <TextInput
            type="search"
            label={text.findModel}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        )}
        <Group justify="space-between">
          <Checkbox
            label={text.selectAll(format.number(free.length))}
            checked={isAll}
            indeterminate={!isAll && free.some(({ id }) => chosen.has(id))}
            onChange={({ currentTarget }) =>
              toggle(
                free.map(({ id }) => id),
                currentTarget.checked,
              )
            }
          />
          <Muted role="status">{text.selected(format.number(chosen.size))}</Muted>
        </Group>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
        <section className="model-list-items" aria-label={text.words.models} tabIndex={0}>
          {found.slice(0, MOST).map(({ id, taken }) => (
            <Checkbox
              key={id}
              label={id}
              description={taken ? text.takenAlready : undefined}
              disabled={taken}
              checked={taken || chosen.has(id)}
              onChange={({ currentTarget }) => toggle([id], currentTarget.checked)}
            />
          ))}
        </section>
        {found.length > MOST && <Muted>{text.onlyFirst(format.number(MOST))}</Muted>}
      </Stack>
    </Box>
  );
}

/** Makes a small call of the first chosen model at the channel that is not saved yet. */
function TryModel({
  editor,
  channel,
  edits,
  names,
}: {
  readonly editor: Editor;
  readonly channel: string;
  edits(): readonly Edit[];
  readonly names: readonly string[];
}) {
  const text = useText();
  const vendorText = useVendorText();
  const format = useFormat();
  const [result, setResult] = useState<ConfigTry>();
  const [model] = names;
  const trying = useAction(
    async () => {
      const { text: candidate } = await editedText(editor.copy.text, edits());
      return call('POST /api/config/try', {
        body: { text: candidate, channel, ...(model !== undefined && { model }) },
      });
    },
    { done: setResult },
  );
  if (model === undefined) return null;
  return (
    <Group gap="xs">
      <PlainButton size="xs" loading={trying.isPending} onClick={() => trying.mutate()}>
        {vendorText.testOf(model)}
      </PlainButton>
      <Group gap={6} role="status">
        {result !== undefined && (
          <>
            <State tone={result.ok ? 'good' : 'bad'}>{result.ok ? vendorText.answers : vendorText.answersNot}</State>
            <Text size="sm">
              {meaningOf({ success: result.ok, status: result.status, message: result.message }, vendorText.results)}{' '}
              <span className="number">{format.duration(result.ms)}</span>
              {result.model !== '' && ` · ${vendorText.askedModel(result.model)}`}
            </Text>
          </>
        )}
      </Group>
      <Muted>{text.tryAbout}</Muted>
    </Group>
  );
}

/** Lines about the configuration; nothing without any. */
export function Lines({
  color,
  title,
  lines,
}: {
  readonly color: 'red' | 'orange';
  readonly title: string;
  readonly lines: readonly string[];
}) {
  if (lines.length === 0) return null;
  return (
    <Alert color={color} icon={<IconAlertTriangle />} p="xs" title={title}>
      {lines.map((line) => (
        <Text size="sm" key={line}>
          <Coded>{line}</Coded>
        </Text>
      ))}
    </Alert>
  );
}
