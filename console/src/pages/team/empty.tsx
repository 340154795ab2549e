/** The empty states: a range without calls, and no departments. */
import { Empty } from '../../parts/notes.tsx';
import { LinkButton, PlainButton } from '../../parts/page.tsx';
import { useText } from './text.ts';
import type { Change, View } from './view.ts';

/** The message, with a button for a longer range. */
export function NoCalls({ view, change }: { readonly view: View; change(change: Change): void }) {
  const { empty: text, words } = useText();
  const isLong = view.range.name === '30d' && view.department === '';
  return (
    <Empty
      title={text.calls}
      action={
        isLong ? undefined : (
          <PlainButton
            onClick={() => change({ range: '30d', start: '', end: '', department_id: '', page: '1', find: '' })}
          >
            {words.show30Days}
          </PlainButton>
        )
      }
    >
      {text.callsAbout}
    </Empty>
  );
}

/** Explains what departments provide here. */
export function NoDepartments() {
  const { empty: text, words } = useText();
  return (
    <Empty title={words.noDepartmentsYet} action={<LinkButton href="/departments">{text.toDepartments}</LinkButton>}>
      {text.departmentsAbout}
    </Empty>
  );
}
