/** The command palette: opens pages, users, keys, models and calls by name. */
import { useDebouncedValue } from '@mantine/hooks';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  useSpotlight,
} from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { isAdmin, KEEPS_DATA, useApi, useSelf } from '../api/hooks.ts';
import { IconCube, IconKey, IconListDetails, IconUsers } from '../icons.ts';
import { PAGES, type PageName } from '../page-list.ts';
import { PAGE_ICONS, usePageNames } from '../pages.tsx';
import { callHref, logsHref } from '../parts/links.tsx';
import { texts } from '../text.ts';

const useText = texts({
  ask: ['Search pages, keys, models, request IDs', '搜索页面、密钥、模型、请求 ID'],
  askAll: ['Search pages, users, keys, models, request IDs', '搜索页面、用户、密钥、模型、请求 ID'],
  nothing: ['No matches', '没有匹配项'],
  pages: ['Pages', '页面'],
  users: ['Users', '用户'],
  call: [(id: string) => `Call ${id}`, (id: string) => `调用 ${id}`],
});
const [store, actions] = createSpotlight();

/** Matches per group. */
const MOST = 5;
/** Shorter texts match too much. */
const SHORTEST = 2;
const REQUEST_ID = /^[0-9a-v]{26}$/;

/** Loaded when it is first opened. */
export default function Palette({
  pages,
  opened,
  takeTyped,
  onClose,
}: {
  readonly pages: readonly PageName[];
  readonly opened: boolean;
  /** Returns what was typed before the palette had the focus. */
  takeTyped(): string;
  onClose(): void;
}) {
  const text = useText();
  const names = usePageNames();
  const admin = isAdmin(useSelf());
  const [, go] = useLocation();
  const [query, setQuery] = useState('');
  useEffect(() => {
    if (!opened) return;
    // Reopened while it closes, it would still have its last query.
    setQuery('');
    actions.open();
  }, [opened]);
  const found = useFound(query, admin);
  const groups: SpotlightActionGroupData[] = [
    {
      group: text.pages,
      actions: pages.map((name) => {
        const Icon = PAGE_ICONS[name];
        return {
          id: name,
          label: names[name],
          leftSection: <Icon size={18} />,
          // The English name is found, too.
          keywords: [name],
          onClick: () => go(PAGES.find((page) => page.name === name)?.path ?? '/'),
        };
      }),
    },
    ...found.map(({ group, items }) => ({
      group,
      actions: items.map(({ href, ...item }) => ({
        ...item,
        // The gateway has matched them.
        keywords: [query],
        onClick: () => go(href),
      })),
    })),
  ];
  // Announces the selected entry to screen readers.
  const { listId } = useSpotlight(store);
  const [aimed, setAimed] = useState('');
  useEffect(() => {
    const list = document.getElementById(listId);
    setAimed(list === null ? text.nothing : (list.querySelector('[data-selected]')?.textContent ?? ''));
  });
  const ask = admin ? text.askAll : text.ask;
  return (
    <Spotlight
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      nothingFound={text.nothing}
      attributes={{ content: { 'aria-label': ask } }}
      scrollable
      maxHeight="60vh"
      searchProps={{
        placeholder: ask,
        onFocus: () => {
          const typed = takeTyped();
          if (typed !== '') setQuery(typed);
        },
        'aria-label': ask,
        rightSectionWidth: 0,
        rightSection: (
          <span className="aloud" aria-live="polite">
            {aimed}
          </span>
        ),
      }}
      actions={groups}
    />
  );
}

type Item = Pick<SpotlightActionData, 'id' | 'label' | 'description' | 'leftSection'> & {
  readonly id: string;
  readonly href: string;
};
interface Found {
  readonly group: string;
  readonly items: readonly Item[];
}

/** What matches besides pages; administrators find users, and the keys and calls of all users. */
function useFound(query: string, admin: boolean): readonly Found[] {
  const text = useText();
  const typed = query.trim();
  const [keyword] = useDebouncedValue(typed, 200);
  const isId = REQUEST_ID.test(typed);
  const isWanted = keyword.length >= SHORTEST && !isId;
  const search = { keyword, page_size: MOST };
  const options = { staleTime: 30_000, ...KEEPS_DATA };
  const users = useApi('GET /api/user/search', { search }, { ...options, enabled: isWanted && admin });
  const own = useApi('GET /api/token/search', { search }, { ...options, enabled: isWanted && !admin });
  const all = useApi('GET /api/token/users', { search }, { ...options, enabled: isWanted && admin });
  const models = useApi('GET /api/user/models', undefined, { staleTime: 60_000, enabled: isWanted });
  if (isId) {
    const href = admin ? logsHref({ open: typed }, { allUsers: true }) : callHref(typed);
    const items = [{ id: `call ${typed}`, label: text.call(typed), leftSection: <IconListDetails size={18} />, href }];
    return [{ group: text.words.calls, items }];
  }
  if (!isWanted) return [];
  const named = (models.data ?? []).filter((name) => name.toLowerCase().includes(keyword.toLowerCase()));
  const keys: readonly Item[] = admin
    ? (all.data?.items ?? []).map(({ id, name, username, user_id }) => ({
        id: `key ${id}`,
        label: name,
        description: username,
        leftSection: <IconKey size={18} />,
        href: `/users?user=${user_id}`,
      }))
    : (own.data?.items ?? []).map(({ id, name }) => ({
        id: `key ${id}`,
        label: name,
        leftSection: <IconKey size={18} />,
        href: `/keys?open=${id}`,
      }));
  const found: readonly Found[] = [
    {
      group: text.users,
      items: (users.data?.items ?? []).map(({ id, username, display_name, email }) => ({
        id: `user ${id}`,
        label: display_name === '' || display_name === username ? username : `${display_name} (${username})`,
        description: email,
        leftSection: <IconUsers size={18} />,
        href: `/users?user=${id}`,
      })),
    },
    { group: text.words.key, items: keys },
    {
      group: text.words.models,
      items: named.slice(0, MOST).map((name) => ({
        id: `model ${name}`,
        label: name,
        leftSection: <IconCube size={18} />,
        href: `/models?${new URLSearchParams({ open: name })}`,
      })),
    },
  ];
  return found.filter(({ items }) => items.length > 0);
}
