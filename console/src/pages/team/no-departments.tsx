/** The empty state without departments. */
import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { Empty } from '../../parts/notes.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** Explains what departments provide here. */
export function NoDepartments() {
  const text = useText(TEXT).empty;
  return (
    <Empty
      title={text.departments}
      action={
        <Button component={Link} href="/departments" variant="default">
          {text.toDepartments}
        </Button>
      }
    >
      {text.departmentsAbout}
    </Empty>
  );
}
