/** The limits of keys and accounts, as a form. */
import { Button, Group, Stack } from '@mantine/core';
import { useRef, useState } from 'react';
import { Empty } from '../../parts/notes.tsx';
import { GuardedButton, Section } from '../../parts/page.tsx';
import { type Editor, useEdits } from './editor.ts';
import { SchemaFields } from './schema-fields.tsx';
import { editsBetween, isSame, membersOf, type Value } from './settings.ts';
import { useText } from './settings-text.ts';

/** The form. */
export function LimitsForm({ editor }: { readonly editor: Editor }) {
  const text = useText();
  const before = editor.settings?.limits ?? undefined;
  const [value, setValue] = useState(membersOf(before));
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const applying = useEdits(editor, {
    done() {},
    wrong(problems) {
      const mine = problems.filter(({ path }) => path === 'limits' || path.startsWith('limits.'));
      setErrors(new Map(mine.map(({ path, message }) => [path.replace(/^limits\.?/, ''), message])));
      return mine.length > 0;
    },
  });
  const members = editor.schema?.properties?.limits?.properties;
  if (members === undefined) return <Empty title={text.noLimits}>{text.noLimitsAbout}</Empty>;
  const after: Value | undefined = Object.keys(value).length === 0 ? undefined : value;
  return (
    <Section title={text.sections.limits} about={text.limitsAbout}>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          applying.mutate(editsBetween(['limits'], before, after));
        }}
      >
        <Stack gap="md" maw="40rem">
          <SchemaFields
            members={members}
            names={Object.keys(members)}
            value={value}
            errorOf={(name) => errors.get(name)}
            onChange={setValue}
          />
          <Group>
            {editor.why === undefined ? (
              <Button type="submit" loading={applying.isPending} disabled={isSame(before, after)}>
                {text.apply}
              </Button>
            ) : (
              <GuardedButton variant="filled" why={editor.why} onClick={() => {}}>
                {text.apply}
              </GuardedButton>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
