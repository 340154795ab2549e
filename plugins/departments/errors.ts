/** The errors of departments that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    department_circle: { status: 400, param: 'parentId', help: 'A department cannot be placed below itself.' },
    department_too_deep: {
      status: 400,
      param: 'parentId',
      text: (deepest: number) => `Departments can be nested at most ${deepest} levels deep.`,
      help: 'Departments can be nested ten levels deep.',
    },
    department_not_empty: {
      status: 409,
      help: 'The department has members or departments. Move or delete them first.',
    },
    no_budget: {
      status: 409,
      text: (name: string) => `The department "${name}" has no budget to raise. Set one first.`,
      help: 'The department has no budget to raise. Set one first.',
    },
  },
  'api',
);
