/** The palette: any page by its name, with the keyboard alone. */
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { PAGES, type PageName } from '../page-list.ts';
import { PAGE_ICONS, PAGE_NAMES } from '../pages.tsx';
import { texts, useText } from '../text.ts';

const TEXT = texts({ ask: 'Where to?', nothing: 'Nothing by that name' }, { ask: '去哪里？', nothing: '没有找到' });
const [store, actions] = createSpotlight();

/** Fetched when it is first opened. */
export default function Palette({
  pages,
  opened,
  onClose,
}: {
  readonly pages: readonly PageName[];
  readonly opened: boolean;
  onClose(): void;
}) {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const [, go] = useLocation();
  useEffect(() => {
    if (opened) actions.open();
  }, [opened]);
  // Which entry Enter would take is only drawn: it is said as well.
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
          // Also by its English name.
          keywords: [name],
          onClick: () => go(PAGES.find((page) => page.name === name)?.path ?? '/'),
        };
      })}
    />
  );
}
