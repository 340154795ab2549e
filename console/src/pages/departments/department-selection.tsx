/** The actions on several selected departments: enable, disable, delete. */
import { notifications } from '@mantine/notifications';
import { type Body, call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { SelectionBar } from '../../parts/selection-bar.tsx';
import { useText } from './text.ts';

type Action = Body<'POST /api/department/batch'>['action'];

/** The bar above the tree. `ids`: the departments that are shown. */
export function DepartmentSelection({
  ids,
  selected,
  onSelect,
  onDone,
}: {
  readonly ids: readonly number[];
  readonly selected: ReadonlySet<number>;
  onSelect(ids: ReadonlySet<number>): void;
  /** The action has taken effect. */
  onDone(): void;
}) {
  const { selection: text, words } = useText();
  const asking = useDialog<Exclude<Action, 'enable'>>();
  const chosen = ids.filter((id) => selected.has(id));
  const change = useAction((action: Action) => call('POST /api/department/batch', { body: { ids: chosen, action } }), {
    changes: ['GET /api/department/tree', 'GET /api/department/names'],
    done(count) {
      asking.close();
      notifications.show({ message: text.done(count) });
      onDone();
    },
  });
  const isDeletion = asking.about === 'delete';
  return (
    <>
      <SelectionBar ids={ids} selected={selected} onSelect={onSelect}>
        <PlainButton size="compact-xs" onClick={() => change.mutate('enable')}>
          {words.enable}
        </PlainButton>
        <PlainButton size="compact-xs" onClick={() => asking.open('disable')}>
          {words.disable}
        </PlainButton>
        <PlainButton size="compact-xs" onClick={() => asking.open('delete')}>
          {words.delete}
        </PlainButton>
      </SelectionBar>
      <Confirm
        dialog={asking}
        title={isDeletion ? text.deleteTitle(chosen.length) : text.disableTitle(chosen.length)}
        action={isDeletion ? words.delete : words.disable}
        doing={change}
        onConfirm={change.mutate}
      >
        {isDeletion ? text.deleteAbout : text.disableAbout}
      </Confirm>
    </>
  );
}
