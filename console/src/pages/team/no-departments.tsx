/** The empty state without departments. */
import { Empty } from '../../parts/notes.tsx';
import { LinkButton } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** Explains what departments provide here. */
export function NoDepartments() {
  const text = useText(TEXT).empty;
  return (
    <Empty title={text.departments} action={<LinkButton href="/departments">{text.toDepartments}</LinkButton>}>
      {text.departmentsAbout}
    </Empty>
  );
}
