/** Newer list prices: compared with the published list, chosen, taken over; the rule in force, and the history. */
import { Alert, Button, Group, Stack, Switch, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { isRoot, useAction, useApi, useSelf } from '../../api/hooks.ts';
import type { PriceChange, PriceComparison } from '../../api/operations.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable, paged } from '../../parts/data-table.tsx';
import { Empty, Failure, Loaded } from '../../parts/notes.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { type AmountField, useAmount, useAmountText } from '../../parts/price-amounts.ts';
import { NOTHING, SelectionBar, useSelectColumn } from '../../parts/selection-bar.tsx';
import { Snippet, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useDay } from './priced.ts';
import { useText } from './text.ts';

const PAGE_SIZE = 50;
const RULE = `prices:
  updates:
    every: 1d
    apply: decreases   # or all, or none: only log`;

/** The tab. */
export function Updates() {
  const history = useApi('GET /api/price/update/history');
  return (
    <Stack gap="md">
      <Comparison />
      <Loaded query={history} height={240}>
        {({ rule, checked_at: checkedAt, updates }) => (
          <>
            <RuleInForce rule={rule} checkedAt={checkedAt} />
            <History updates={updates} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Nothing is downloaded before the user asks for it. */
function Comparison() {
  const { updates: text } = useText();
  const compare = useAction(() => call('GET /api/price/update'), {
    changes: ['GET /api/price/update/history'],
    // It is shown in place of the table.
    refused: () => true,
  });
  return (
    <Section
      flush
      title={text.title}
      about={<Coded>{text.about}</Coded>}
      actions={
        <Button loading={compare.isPending} onClick={() => compare.mutate()}>
          {text.compare}
        </Button>
      }
    >
      {compare.isError && <Failure error={compare.error} />}
      {compare.data === undefined ? (
        !compare.isError && <Muted p="sm">{text.notCompared}</Muted>
      ) : (
        <Changes key={compare.data.digest} found={compare.data} onTaken={() => compare.mutate()} />
      )}
    </Section>
  );
}

/** A change with a number for its checkbox. */
interface Change extends PriceChange {
  readonly id: number;
}

const isSold = ({ names, fixed }: PriceChange): boolean => names.length + fixed.length > 0;
const nameOf = ({ provider, model }: PriceChange): string => `${provider} ${model}`;

function Changes({ found, onTaken }: { readonly found: PriceComparison; onTaken(): void }) {
  const { updates: text } = useText();
  const format = useFormat();
  const mayTake = isRoot(useSelf());
  const [all, setAll] = useState(false);
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState(NOTHING);
  const taking = useDialog<readonly Change[]>();
  const changes = found.changes.map((change, id): Change => ({ ...change, id }));
  const sold = changes.filter(isSold);
  const visible = all ? changes : sold;
  const turn = (to: number): void => {
    setPage(to);
    setSelected(NOTHING);
  };
  const [rows, pager] = paged(visible, page, PAGE_SIZE, (to) => turn(Number(to.page)));
  const chosen = rows.filter(({ id }) => selected.has(id));
  const take = useAction(
    (which: readonly Change[]) =>
      call('POST /api/price/update', { body: { digest: found.digest, models: which.map(nameOf) } }),
    {
      changes: ['GET /api/price/update/history', 'GET /api/price/'],
      done({ taken }) {
        taking.close();
        setSelected(NOTHING);
        notifications.show({ message: text.taken(format.number(taken.count), format.moment(taken.valid_from)) });
        onTaken();
      },
    },
  );
  return (
    <>
      <Group justify="space-between" gap="xs" p="sm">
        <Text size="sm" role="status" className="price-source">
          {text.found(format.number(sold.length), found.source)}
        </Text>
        {changes.length > sold.length && (
          <Switch
            size="xs"
            label={text.showAll(format.number(changes.length - sold.length))}
            checked={all}
            onChange={({ currentTarget }) => {
              setAll(currentTarget.checked);
              turn(1);
            }}
          />
        )}
      </Group>
      {mayTake && (
        <SelectionBar
          ids={rows.map(({ id }) => id)}
          selected={selected}
          onSelect={setSelected}
          end={
            <Button size="compact-xs" variant="default" onClick={() => taking.open(visible)}>
              {text.takeAll(format.number(visible.length))}
            </Button>
          }
        >
          <Button size="compact-xs" onClick={() => taking.open(chosen)}>
            {text.take(format.number(chosen.length))}
          </Button>
        </SelectionBar>
      )}
      <ChangeTable rows={rows} selected={selected} onSelect={setSelected} mayTake={mayTake} />
      {pager}
      {!mayTake && visible.length > 0 && <Muted p="sm">{text.onlyRoot}</Muted>}
      {found.skipped.length > 0 && <Skipped lines={found.skipped} />}
      <Confirm
        dialog={taking}
        title={text.takeTitle(format.number(taking.about?.length ?? 0))}
        action={text.takeOver}
        danger={false}
        doing={take}
        onConfirm={(which) => take.mutate(which)}
      >
        <Coded>{text.takeAbout}</Coded>
      </Confirm>
    </>
  );
}

const TONES: Readonly<Record<PriceChange['kind'], Tone>> = {
  new: 'info',
  increase: 'warn',
  decrease: 'good',
  mixed: 'warn',
  structure: 'warn',
};

function ChangeTable({
  rows,
  selected,
  onSelect,
  mayTake,
}: {
  readonly rows: readonly Change[];
  readonly selected: ReadonlySet<number>;
  onSelect(ids: ReadonlySet<number>): void;
  readonly mayTake: boolean;
}) {
  const { updates: text, words } = useText();
  const amountText = useAmount();
  const fieldText = useField();
  const format = useFormat();
  const select = useSelectColumn<Change>(selected, onSelect, nameOf);
  const amount = (value: string | null): string => (value === null ? '–' : amountText(value));
  /** One line for each amount; the columns have the same lines. */
  const lines = (key: string, title: string, of: (each: Change['amounts'][number]) => string): Column<Change> => ({
    key,
    title,
    ...(key !== 'amount' && { align: 'right' as const }),
    cell: ({ amounts }) => amounts.map((each) => <div key={each.field}>{of(each)}</div>),
  });
  const columns: readonly Column<Change>[] = [
    { ...select, when: mayTake },
    {
      key: 'model',
      title: words.model,
      cell: (change) => (
        <div className="price-name">
          {nameOf(change)}
          {change.names.length > 0 && <Small>{text.sells(change.names.join(', '))}</Small>}
          {change.fixed.length > 0 && <Small>{text.fixed(change.fixed.join(', '))}</Small>}
        </div>
      ),
    },
    lines('amount', text.amount, ({ field }) => fieldText(field)),
    lines('old', text.old, ({ old }) => amount(old)),
    lines('new', text.new, ({ new: now }) => amount(now)),
    lines('change', text.change, ({ percent }) =>
      percent === null ? '–' : `${percent > 0 ? '+' : ''}${format.percent(percent / 100)}`,
    ),
    { key: 'kind', title: text.kind, cell: ({ kind }) => <State tone={TONES[kind]}>{text.kinds[kind]}</State> },
  ];
  return (
    <DataTable
      caption={text.changes}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      empty={<Empty title={text.none}>{text.noneAbout}</Empty>}
    />
  );
}

/** Names an amount of the list: `input`, `output above 200000`, `input from 2026-01-31`. */
function useField(): (field: string) => string {
  const { updates: text } = useText();
  const { fields } = useAmountText();
  const format = useFormat();
  const dayText = useDay();
  return (field) => {
    const [, name = field, above, from, rest = ''] =
      /^(\S+)(?: above (\d+))?(?: from (\S+))?(?: (.*))?$/.exec(field) ?? [];
    return [
      fields[name as AmountField] ?? name,
      ...(above === undefined ? [] : [text.above(format.number(Number(above)))]),
      ...(from === undefined ? [] : [text.from(dayText(from))]),
      ...(rest === '' ? [] : [rest]),
    ].join(', ');
  };
}

function Skipped({ lines }: { readonly lines: readonly string[] }) {
  const { updates: text } = useText();
  return (
    <Alert color="orange" icon={<IconAlertTriangle />} title={text.skipped} m="sm">
      {lines.map((line) => (
        <Text size="sm" key={line} className="price-source">
          {line}
        </Text>
      ))}
    </Alert>
  );
}

interface Updated {
  readonly taken_at: number;
  readonly taken_by: string;
  readonly valid_from: number;
  readonly source: string;
  readonly models: readonly string[];
}
interface Rule {
  readonly every: number | null;
  readonly apply: 'none' | 'decreases' | 'all';
  readonly max_change: number;
}

function RuleInForce({ rule, checkedAt }: { readonly rule: Rule | null; readonly checkedAt: number | null }) {
  const { updates: text, words } = useText();
  const format = useFormat();
  const every = rule?.every ?? null;
  return (
    <Section title={text.rule}>
      <Stack gap="xs" align="stretch">
        <Text size="sm">
          {every === null || rule === null
            ? text.noRule
            : text.rules[rule.apply](format.duration(every * 1_000), format.percent(rule.max_change / 100))}{' '}
          {text.checked} <When at={checkedAt} />
        </Text>
        <Muted>
          <Coded>{text.fixedAbout}</Coded>
        </Muted>
        {every === null && <Snippet label={words.gatewayYamlLines} code={RULE} />}
      </Stack>
    </Section>
  );
}

const FEW = 3;

function History({ updates }: { readonly updates: readonly Updated[] }) {
  const { updates: text, words } = useText();
  const format = useFormat();
  const [page, setPage] = useState(1);
  const [rows, pager] = paged(updates, page, PAGE_SIZE, (to) => setPage(Number(to.page)));
  const columns: readonly Column<Updated>[] = [
    { key: 'taken', title: text.takenAt, cell: ({ taken_at: at }) => <When at={at} /> },
    { key: 'by', title: text.takenBy, cell: ({ taken_by: by }) => by },
    { key: 'from', title: text.validFrom, cell: ({ valid_from: at }) => format.moment(at) },
    {
      key: 'models',
      title: words.models,
      cell: ({ models }) => (
        <>
          {models.slice(0, FEW).join(', ')}
          {models.length > FEW && (
            <details>
              <summary>{text.more(format.number(models.length - FEW))}</summary>
              {models.slice(FEW).map((name) => (
                <div key={name}>{name}</div>
              ))}
            </details>
          )}
        </>
      ),
    },
    { key: 'source', title: text.source, from: 'md', cell: ({ source }) => source },
  ];
  return (
    <Section flush title={text.history} about={text.historyAbout}>
      <DataTable
        caption={text.history}
        columns={columns}
        rows={rows}
        rowKey={({ taken_at: at, valid_from: from, taken_by: by }) => `${at} ${from} ${by}`}
        empty={<Empty title={text.noHistory}>{text.noHistoryAbout}</Empty>}
      />
      {pager}
    </Section>
  );
}
