/** The command palette: opens a page by name. */
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { PAGES, type PageName } from '../page-list.ts';
import { PAGE_ICONS, usePageNames } from '../pages.tsx';
import { texts } from '../text.ts';

const useText = texts({ ask: ['Search pages', '搜索页面'], nothing: ['No matching pages', '没有符合条件的页面'] });
const [store, actions] = createSpotlight();

/** Loaded when it is first opened. */
export default function Palette({
  pages,
  opened,
  onClose,
}: {
  readonly pages: readonly PageName[];
  readonly opened: boolean;
  onClose(): void;
}) {
  const text = useText();
  const names = usePageNames();
  const [, go] = useLocation();
  useEffect(() => {
    if (opened) actions.open();
  }, [opened]);
  // Announces the selected entry to screen readers.
  const { listId } = useSpotlight(store);
  const [aimed, setAimed] = useState('');
  useEffect(() => {
    const list = document.getElementById(listId);
    setAimed(list === null ? text.nothing : (list.querySelector('[data-selected]')?.textContent ?? ''));
  });
  return (
    <Spotlight
      store={store}
      shortcut={null}
      onSpotlightClose={onClose}
      nothingFound={text.nothing}
      attributes={{ content: { 'aria-label': text.ask } }}
      searchProps={{
        placeholder: text.ask,
        'aria-label': text.ask,
        rightSectionWidth: 0,
        rightSection: (
          <span className="aloud" aria-live="polite">
            {aimed}
          </span>
        ),
      }}
      actions={pages.map((name) => {
        const Icon = PAGE_ICONS[name];
        return {
          id: name,
          label: names[name],
          leftSection: <Icon size={18} />,
          // The English name is found, too.
          keywords: [name],
          onClick: () => go(PAGES.find((page) => page.name === name)?.path ?? '/'),
        };
      })}
    />
  );
}
