/** The order of pages in the site: groups by purpose; pages without a group follow those of their folder. */

/** A group of the side bar. */
export interface Group {
  readonly title: string;
  /** Paths in the checkout, in order. */
  readonly pages: readonly string[];
}

/** A page belongs to the first group that names it, otherwise to the first that has its folder. */
const GROUPS: readonly {
  readonly title: string;
  readonly named: readonly string[];
  readonly folders: readonly string[];
}[] = [
  {
    title: 'Start',
    named: ['README.md', 'core/config/README.md', 'console/README.md', 'console/recipes/README.md'],
    folders: ['console'],
  },
  {
    title: 'Writing plugins',
    named: ['plugins/README.md', 'plugins/vendors/WRITING.md', 'plugins/styles/WRITING.md', 'plugins/TESTING.md'],
    folders: [],
  },
  {
    title: 'Calls and vendors',
    named: [
      ...['plugins/styles/README.md', 'plugins/vendors/README.md', 'plugins/models/README.md'],
      ...['core/translation/README.md', 'plugins/vendors/COMPARISON.md'],
    ],
    folders: [
      'plugins/styles',
      'plugins/vendors',
      'plugins/models',
      'plugins/passthrough',
      'plugins/guard',
      'plugins/pseudonyms',
      'plugins/prompts',
    ],
  },
  {
    title: 'Billing and users',
    named: [
      ...['plugins/quota/README.md', 'plugins/payments/README.md'],
      ...['plugins/accounts/README.md', 'plugins/keys/README.md', 'plugins/departments/README.md'],
    ],
    folders: ['plugins/prices', 'plugins/plans', 'plugins/audit'],
  },
  {
    title: 'Operation',
    named: ['scripts/deploy/README.md', 'scripts/README.md', 'plugins/stores/README.md', 'plugins/stores/SCALING.md'],
    folders: ['core/workers', 'core/cluster', 'plugins'],
  },
  {
    title: 'Architecture and tests',
    named: ['core/README.md', 'test/README.md', 'scripts/bench/README.md'],
    folders: ['core', 'scripts', 'test'],
  },
  { title: 'Project', named: ['.github/CONTRIBUTING.md', '.github/SECURITY.md', 'CHANGELOG.md'], folders: [''] },
];

/** The groups of these pages; every page is in one. */
export function navigationOf(paths: readonly string[]): readonly Group[] {
  const named = new Set(GROUPS.flatMap((group) => group.named));
  const left = new Set(paths.filter((path) => !named.has(path)).sort());
  return GROUPS.map(({ title, named: first, folders }) => {
    const others = [...left].filter((path) => folders.some((folder) => folder === '' || path.startsWith(`${folder}/`)));
    for (const path of others) left.delete(path);
    return { title, pages: [...first.filter((path) => paths.includes(path)), ...others] };
  });
}
