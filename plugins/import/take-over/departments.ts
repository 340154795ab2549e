/** Takes over departments: there are few, so each is written by itself. */
import { inQuota } from '../../../core/contracts/ledger.ts';
import type { ForeignDepartment } from '../inventory.ts';
import { compareDepartment } from './changes.ts';
import { namesFor, orNote, type Run } from './run.ts';
import { seenDepartment } from './seen.ts';

/** Creates those that are new, and compares the others. */
export async function takeDepartments(run: Run, all: readonly ForeignDepartment[]): Promise<void> {
  const { departments, isDry, kind, taken } = run;
  /** Names at the top of the tree, those of this import included. */
  const names = new Set(departments.all().flatMap((each) => (each.parentId === undefined ? [folded(each.name)] : [])));
  let planned = 0;
  for (const department of all) {
    const { id, name, ...limits } = department;
    await orNote(run, `department ${name}`, async () => {
      const before = run.imports.find('department', id);
      if (before !== undefined) return compareDepartment(run, department, before);
      let free = name;
      for (free of namesFor(name, kind)) if (!names.has(folded(free))) break;
      const fields = { ...limits, name: free };
      departments.check(fields);
      const imported = { name, seen: seenDepartment(department) };
      planned--;
      const ownId = isDry
        ? planned
        : (
            await departments.create(fields, (ownId) => [
              run.imports.step('department', id, { ...imported, ownId }),
              ...run.audited('department.create', `department ${ownId}`),
            ])
          ).id;
      run.imports.note('department', id, { ...imported, ownId });
      names.add(folded(free));
      taken.push({ kind: 'department', from: name, to: textOf(free, department), state: 'new' });
    });
  }
}

function textOf(name: string, { budget, monthlyBudget, enabled }: ForeignDepartment): string {
  return [
    `department ${name}`,
    ...(budget === undefined ? [] : [`budget ${inQuota(budget)}`]),
    ...(monthlyBudget === undefined ? [] : [`monthly budget ${inQuota(monthlyBudget)}`]),
    ...(enabled ? [] : ['disabled']),
  ].join(', ');
}

/** Names of departments that differ only in case or width are equal. */
const folded = (name: string): string => name.normalize('NFKC').toLowerCase();
