/** The frame of every page: navigation, palette, language, theme, account. */
import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useContext, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client.ts';
import type { Self } from '../api/hooks.ts';
import { useAction, useStatus } from '../api/hooks.ts';
import {
  IconCheck,
  IconChevronDown,
  IconDeviceDesktop,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSun,
} from '../icons.ts';
import { PAGES, type PageName } from '../page-list.ts';
import { PAGE_ICONS, usePageNames } from '../pages.tsx';
import { IconButton } from '../parts/page.tsx';
import { Money } from '../parts/values.tsx';
import { chosenLanguage, LanguageContext, texts } from '../text.ts';
import { Boundary } from './boundary.tsx';
import { fetched } from './fetched.tsx';
import { useTypedAhead } from './typed-ahead.ts';
import { LOCAL_ZONE, timeZoneOf, ZONES, ZoneContext } from './zone.ts';

const Palette = fetched(() => import('./palette.tsx'));

const useText = texts({
  skip: ['Skip to content', '跳到页面内容'],
  navigation: ['Navigation', '导航'],
  open: ['Open navigation', '打开导航'],
  close: ['Close navigation', '关闭导航'],
  you: ['You', '我的'],
  admin: ['Administration', '管理'],
  palette: ['Search pages (Ctrl K)', '搜索页面（Ctrl K）'],
  language: ['中文', 'English'],
  languageAbout: ['Switch to Chinese', '切换到英文'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  auto: ['System', '跟随系统'],
  colors: ['Theme', '主题'],
  account: ['Account', '账户'],
  left: ['left', '剩余'],
  zone: ['Show times in', '时间显示为'],
  noPalette: [
    'The search could not be loaded: the gateway does not respond, or it was updated. Reload the page.',
    '无法加载搜索：网关没有响应，或已更新。请重新加载页面。',
  ],
});

/** The frame. `pages`: those that the user may open. */
export function Shell({
  pages,
  self,
  children,
}: {
  readonly pages: readonly PageName[];
  readonly self: Self;
  readonly children: ReactNode;
}) {
  const text = useText();
  const status = useStatus();
  const [opened, { toggle, close }] = useDisclosure();
  const [path] = useLocation();
  const [palette, setPalette] = useState<'never' | 'open' | 'closed'>('never');
  const main = useRef<HTMLElement>(null);
  const burger = useRef<HTMLButtonElement>(null);
  useMenuFocus();
  const takeTyped = useTypedAhead(palette === 'open');
  useHotkeys([['mod+K', () => setPalette('open')]], []);
  useLanguageOfEmails(self);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    close();
    // Screen readers continue at the new page, not after the link.
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path, close]);
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'md' }}
    >
      <UnstyledButton className="skip" onClick={() => main.current?.focus()}>
        {text.skip}
      </UnstyledButton>
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              ref={burger}
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? text.close : text.open}
              aria-expanded={opened}
            />
            <Link href="/" className="brand">
              <img src="./icon.svg" alt="" width={24} height={24} />
              <Text fw={600} truncate>
                {status?.system_name ?? 'Turnpike'}
              </Text>
            </Link>
          </Group>
          <Group gap={4} wrap="nowrap">
            <IconButton label={text.palette} onClick={() => setPalette('open')}>
              <IconSearch size={18} />
            </IconButton>
            <LanguageButton />
            <ColorMenu />
            <AccountMenu self={self} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        aria-label={text.navigation}
        className="navigation"
        data-closed={!opened || undefined}
        onKeyDown={({ key }) => {
          if (key !== 'Escape' || !opened) return;
          close();
          burger.current?.focus();
        }}
        // If the navigation covers the page, keyboard focus on the page would be hidden.
        onBlur={({ relatedTarget }) => main.current?.contains(relatedTarget) === true && close()}
      >
        <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: -1 }}>
          <NavGroup title={text.you} names={pages.filter((name) => groupOf(name) === 'you')} path={path} />
          <NavGroup title={text.admin} names={pages.filter((name) => groupOf(name) !== 'you')} path={path} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} id="page" className="main">
        {children}
      </AppShell.Main>
      {palette !== 'never' && (
        <Boundary
          onBroken={() => {
            setPalette('never');
            notifications.show({ color: 'red', message: text.noPalette, role: 'alert' });
          }}
        >
          <Suspense>
            <Palette
              pages={pages}
              opened={palette === 'open'}
              takeTyped={takeTyped}
              onClose={() => setPalette('closed')}
            />
          </Suspense>
        </Boundary>
      )}
    </AppShell>
  );
}

function groupOf(name: PageName) {
  return PAGES.find((page) => page.name === name)?.group;
}

function NavGroup({
  title,
  names,
  path,
}: {
  readonly title: string;
  readonly names: readonly PageName[];
  readonly path: string;
}) {
  const pageNames = usePageNames();
  if (names.length === 0) return null;
  return (
    <div>
      <div className="nav-heading">{title}</div>
      {names.map((name) => {
        const href = PAGES.find((page) => page.name === name)?.path ?? '/';
        const Icon = PAGE_ICONS[name];
        const active = path === href || (href !== '/' && path.startsWith(`${href}/`));
        return (
          <NavLink
            key={name}
            component={Link}
            href={href}
            label={pageNames[name]}
            leftSection={<Icon size={17} stroke={1.6} />}
            active={active}
            aria-current={active ? 'page' : undefined}
            py={6}
          />
        );
      })}
    </div>
  );
}

/** Stores the language that the user chose in the settings of the account: emails are written in it. */
function useLanguageOfEmails({ setting }: Self): void {
  const { language } = useContext(LanguageContext);
  const stored = useRef((JSON.parse(setting) as { readonly language?: string }).language);
  useEffect(() => {
    if (chosenLanguage() !== language || stored.current === language) return;
    stored.current = language;
    // If it fails, it is stored when the console is opened again.
    call('PUT /api/user/setting', { body: { language } }).catch(() => {});
  }, [language]);
}

/** The other language, in that language. */
export function LanguageButton() {
  const text = useText();
  const { language, choose } = useContext(LanguageContext);
  const other = language === 'en' ? 'zh' : 'en';
  return (
    <IconButton label={text.languageAbout} lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => choose(other)}>
      <IconLanguage size={18} />
    </IconButton>
  );
}

/** The time zone. Not shown if the viewer's own is UTC. */
function ZoneItems() {
  const text = useText();
  const { zone, choose } = useContext(ZoneContext);
  if (LOCAL_ZONE === 'UTC') return null;
  return (
    <>
      <Menu.Divider />
      <Menu.Label>{text.zone}</Menu.Label>
      {ZONES.map((each) => (
        <Menu.Item
          key={each}
          leftSection={<IconCheck size={16} visibility={zone === each ? 'visible' : 'hidden'} />}
          onClick={() => choose(each)}
          aria-current={zone === each}
        >
          {timeZoneOf(each)}
        </Menu.Item>
      ))}
    </>
  );
}

/** Light, dark, or system. */
export function ColorMenu() {
  const text = useText();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    ['light', text.light, IconSun],
    ['dark', text.dark, IconMoon],
    ['auto', text.auto, IconDeviceDesktop],
  ] as const;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.colors}>
          {colorScheme === 'dark' ? <IconMoon size={18} /> : <IconSun size={18} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(([scheme, name, Icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={16} />}
            onClick={() => setColorScheme(scheme)}
            aria-current={colorScheme === scheme}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountMenu({ self }: { readonly self: Self }) {
  const text = useText();
  const names = usePageNames();
  const queries = useQueryClient();
  const signOut = useAction(() => call('POST /api/user/auth/logout'), { done: () => queries.resetQueries() });
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <UnstyledButton className="account">
          <span className="aloud">{text.account}: </span>
          <Text size="sm" truncate maw="8rem" visibleFrom="xs">
            {self.display_name || self.username}
          </Text>
          <Text size="sm" fw={600} hiddenFrom="xs">
            {self.username.slice(0, 1).toUpperCase()}
          </Text>
          <IconChevronDown size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {self.username} · <Money units={self.unlimited_quota === true ? null : self.quota} />{' '}
          {self.unlimited_quota !== true && text.left}
        </Menu.Label>
        <Menu.Item component={Link} href="/wallet">
          {names.wallet}
        </Menu.Item>
        <Menu.Item component={Link} href="/security">
          {names.security}
        </Menu.Item>
        <ZoneItems />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut.mutate()}>
          {text.words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** When a menu item opens a dialog, the focus moves to the button of the menu first, so that it returns there and not to a removed item. */
function useMenuFocus(): void {
  useEffect(() => {
    const look = ({ target }: MouseEvent): void => {
      const menu = target instanceof Element ? target.closest('[role^="menuitem"]')?.closest('[role="menu"]') : null;
      document.getElementById(menu?.getAttribute('aria-labelledby') ?? '')?.focus();
    };
    // Before the item's handler, because dialogs store the focused element when they open.
    document.addEventListener('click', look, true);
    return () => document.removeEventListener('click', look, true);
  }, []);
}
