/** Chooses the role of a new account, which is a member's unless root chooses. */
import { Input, SegmentedControl } from '@mantine/core';
import { isRoot, useSelf } from '../../api/hooks.ts';
import { Small } from '../../parts/page.tsx';
import { useText } from './text.ts';

/** A role as `/api` numbers it: member or administrator. */
export type Role = '1' | '10';

/** The control. */
export function RoleChoice({ value, onChange }: { readonly value: Role; onChange(role: Role): void }) {
  const text = useText();
  const isFree = isRoot(useSelf());
  return (
    <Input.Wrapper label={text.role} labelElement="div">
      <SegmentedControl
        aria-label={text.role}
        display="flex"
        w="max-content"
        value={value}
        onChange={onChange}
        disabled={!isFree}
        data={[
          { value: '1', label: text.member },
          { value: '10', label: text.administrator },
        ]}
      />
      {!isFree && <Small>{text.onlyRootRoles}</Small>}
    </Input.Wrapper>
  );
}
