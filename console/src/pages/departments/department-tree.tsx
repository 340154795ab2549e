/** The department tree, with budgets as bars and the remaining amount. Keyboard support follows the ARIA tree pattern. */
import { Box, Text } from '@mantine/core';
import { type KeyboardEvent, type MouseEvent, memo, useEffect, useRef, useState } from 'react';
import { IconCheck, IconChevronDown, IconChevronRight } from '../../icons.ts';
import { PlainButton, Small } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import './departments.css';
import { type Budget, type Department, disabledBy, ownBudgets, type Row, tightestOf } from './forest.ts';
import { useText } from './text.ts';

/** The number of rows that are rendered at first. */
const MOST_ROWS = 200;

/** The tree. `open` is the department whose drawer is open. With `selected`, a click and the keys select instead of opening. */
export function DepartmentTree({
  rows,
  open,
  selected,
  onSelect,
  onOpen,
  onToggle,
}: {
  readonly rows: readonly Row[];
  readonly open: number | undefined;
  readonly selected: ReadonlySet<number> | undefined;
  onSelect(department: Department): void;
  onOpen(department: Department): void;
  /** Expands or collapses a department. */
  onToggle(department: Department, isOpen: boolean): void;
}) {
  const text = useText();
  const format = useFormat();
  const tree = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(MOST_ROWS);
  const [at, setAt] = useState<number>();
  const choose = selected === undefined ? onOpen : onSelect;
  const moved = useRef(false);
  const rendered = rows.slice(0, most);
  // One row is in the tab order; arrow keys move between rows.
  const current = rendered.some(({ department }) => department.id === at) ? at : rendered[0]?.department.id;

  useEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    tree.current?.querySelector<HTMLElement>(`[data-department="${at}"]`)?.focus();
  }, [at]);

  function go(row: Row | undefined): void {
    if (row === undefined) return;
    moved.current = true;
    setAt(row.department.id);
  }

  function onKey(event: KeyboardEvent): void {
    const index = rendered.findIndex(({ department }) => department.id === current);
    const row = rendered[index];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { department, expanded } = row;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(rendered[index + 1]),
      ArrowUp: () => go(rendered[index - 1]),
      Home: () => go(rendered[0]),
      End: () => go(rendered.at(-1)),
      ArrowRight: () =>
        expanded === false ? onToggle(department, true) : expanded === true && go(rendered[index + 1]),
      ArrowLeft: () =>
        expanded === true
          ? onToggle(department, false)
          : go(rendered.find((each) => each.department.id === department.above?.id)),
      Enter: () => choose(department),
      ' ': () => choose(department),
    };
    const act = keys[event.key] ?? (/^\S$/u.test(event.key) ? () => go(beginsWith(event.key, index)) : undefined);
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  function onClick({ target }: MouseEvent): void {
    const element = (target as Element).closest('[data-department]');
    const row = rendered.find(({ department }) => `${department.id}` === element?.getAttribute('data-department'));
    if (row === undefined) return;
    setAt(row.department.id);
    const isToggle = row.expanded !== undefined && (target as Element).closest('.department-toggle') !== null;
    if (isToggle) onToggle(row.department, row.expanded === false);
    else choose(row.department);
  }

  /** The next row whose name begins with a letter. */
  function beginsWith(letter: string, after: number): Row | undefined {
    const matches = ({ department }: Row): boolean => department.name.toLowerCase().startsWith(letter.toLowerCase());
    return rendered.slice(after + 1).find(matches) ?? rendered.find(matches);
  }

  return (
    <>
      <div className="department-head" aria-hidden>
        <span>{text.words.department}</span>
        <Box className="department-wide" ta="right">
          {text.words.members}
        </Box>
        <span className="department-wide">{text.words.thisMonth}</span>
        <span className="department-wide">{text.words.total}</span>
        <Box ta="right">{text.left}</Box>
        <Box className="department-wide" ta="right">
          {text.factor}
        </Box>
      </div>
      {/* Announced here and not in each row, so that unchanged rows are not rerendered. */}
      <div
        role="tree"
        aria-label={text.words.departments}
        aria-multiselectable={selected !== undefined}
        ref={tree}
        tabIndex={-1}
        onKeyDown={onKey}
        onClick={onClick}
        // Screen readers may move the focus to a row without a key event.
        onFocus={({ target }) => {
          const id = target.getAttribute('data-department');
          if (id !== null) setAt(Number(id));
        }}
      >
        {rendered.map(({ department, expanded, place, beside }) => (
          <TreeRow
            key={department.id}
            department={department}
            expanded={expanded}
            place={place}
            beside={beside}
            isCurrent={department.id === current}
            isOpen={department.id === open}
            isSelected={selected?.has(department.id)}
          />
        ))}
      </div>
      {rows.length > most && (
        <Box p="xs" ta="center">
          <PlainButton onClick={() => setMost(most + MOST_ROWS)}>
            {text.more(format.number(Math.min(MOST_ROWS, rows.length - most)))}
          </PlainButton>
        </Box>
      )}
    </>
  );
}

const TreeRow = memo(function TreeRow({
  department,
  expanded,
  place,
  beside,
  isCurrent,
  isOpen,
  isSelected,
}: Row & {
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  /** Undefined: departments are not being selected. */
  readonly isSelected: boolean | undefined;
}) {
  const text = useText();
  const format = useFormat();
  const tightest = tightestOf(department);
  const own = ownBudgets(department);
  const isDisabled = disabledBy(department) !== undefined;
  return (
    <div
      role="treeitem"
      className="department-row"
      data-department={department.id}
      tabIndex={isCurrent ? 0 : -1}
      aria-level={department.level}
      aria-posinset={place}
      aria-setsize={beside}
      aria-selected={isSelected ?? isOpen}
      aria-expanded={expanded}
    >
      <div className="department-name" style={{ paddingInlineStart: (department.level - 1) * 18 }}>
        {isSelected !== undefined && (
          <span className="department-check" aria-hidden>
            {isSelected && <IconCheck size={14} />}
          </span>
        )}
        <span className="department-toggle">
          {expanded === true && <IconChevronDown size={16} />}
          {expanded === false && <IconChevronRight size={16} />}
        </span>
        <Text size="sm" fw={department.level === 1 ? 600 : 400} truncate title={department.name}>
          {department.name}
        </Text>
        {isDisabled && <State tone="idle">{text.words.disabled}</State>}
      </div>
      <Text size="sm" ta="right" className="department-wide number">
        <span className="aloud">{text.words.members}: </span>
        {format.number(department.people)}
      </Text>
      <Bar title={text.words.thisMonth} budget={own.find(({ period }) => period === 'month')} />
      <Bar title={text.words.total} budget={own.find(({ period }) => period === 'total')} />
      <Box ta="right" miw={0}>
        <Text size="sm" component="div" {...(tightest?.left === 0 && { c: 'red', fw: 600 })}>
          <span className="aloud">{text.left}: </span>
          {tightest === undefined ? (
            text.words.noLimit
          ) : (
            <span title={format.quota(tightest.left)}>{format.money(tightest.left)}</span>
          )}
        </Text>
        {tightest !== undefined && tightest.of !== department && (
          <Small truncate>{text.through(tightest.of.name, text.periods[tightest.period])}</Small>
        )}
      </Box>
      <Text size="sm" ta="right" c={department.ratio === 1 ? 'dimmed' : undefined} className="department-wide number">
        <span className="aloud">{text.factor}: </span>×{format.number(department.ratio)}
      </Text>
    </div>
  );
});

/** The used part of a budget; a dash without a budget. Plain elements, because hundreds are rendered at once. */
function Bar({ title, budget }: { readonly title: string; readonly budget: Budget | undefined }) {
  const text = useText();
  const format = useFormat();
  if (budget === undefined) {
    return (
      <div className="department-wide department-dim">
        <span className="aloud">{title}: </span>–
      </div>
    );
  }
  const share = budget.limit === 0 ? 1 : budget.used / budget.limit;
  return (
    <div className="department-wide" title={format.quota(budget.limit)}>
      <div className="department-budget number">
        <span className="aloud">{title}: </span>
        <span>{format.percent(share)}</span>
        <span>{text.of(format.money(budget.used), format.money(budget.limit))}</span>
      </div>
      <svg
        className="department-bar"
        data-full={share >= 1 ? 'yes' : share >= 0.8 ? 'nearly' : 'no'}
        aria-hidden="true"
      >
        <rect width="100%" height="100%" className="department-bar-whole" />
        <rect width={`${Math.min(1, share) * 100}%`} height="100%" />
      </svg>
    </div>
  );
}
