/** The pages with their names in both languages and their icons. Each page is loaded when it is first opened. */
import {
  IconActivity,
  IconBuildingBank,
  IconChartBar,
  IconCoins,
  IconCube,
  IconFileText,
  IconHistory,
  IconHome,
  IconKey,
  IconListDetails,
  IconPlugConnected,
  IconPrompt,
  IconReceipt2,
  IconServer2,
  IconShieldLock,
  IconSitemap,
  IconUsers,
  IconWallet,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { PAGES, type PageName } from './page-list.ts';
import { fetched } from './shell/fetched.tsx';
import { texts } from './text.ts';

/** The names of the pages. */
export const PAGE_NAMES = texts(
  {
    home: 'Home',
    connect: 'Connect',
    keys: 'Keys',
    playground: 'Playground',
    models: 'Models',
    logs: 'Logs',
    usage: 'Usage',
    wallet: 'Wallet',
    security: 'Security',
    departments: 'Departments',
    team: 'Team',
    users: 'Users',
    payments: 'Payments',
    vendors: 'Vendors',
    prices: 'Prices',
    config: 'Config',
    audit: 'Audit',
    system: 'System',
  } satisfies Record<PageName, string>,
  {
    home: '首页',
    connect: '接入',
    keys: '密钥',
    playground: '模型体验',
    models: '模型',
    logs: '日志',
    usage: '用量',
    wallet: '钱包',
    security: '安全',
    departments: '部门',
    team: '团队',
    users: '用户',
    payments: '支付',
    vendors: '供应商',
    prices: '价格',
    config: '配置',
    audit: '审计',
    system: '系统',
  },
);

/** The icons of the pages. */
export const PAGE_ICONS: Readonly<Record<PageName, ComponentType<{ size?: number; stroke?: number }>>> = {
  home: IconHome,
  connect: IconPlugConnected,
  keys: IconKey,
  playground: IconPrompt,
  models: IconCube,
  logs: IconListDetails,
  usage: IconChartBar,
  wallet: IconWallet,
  security: IconShieldLock,
  departments: IconSitemap,
  team: IconBuildingBank,
  users: IconUsers,
  payments: IconCoins,
  vendors: IconServer2,
  prices: IconReceipt2,
  config: IconFileText,
  audit: IconHistory,
  system: IconActivity,
};

const modules = import.meta.glob<{ default: ComponentType }>('./pages/*/page.tsx');

/** The components of the pages. */
export const PAGE_COMPONENTS = Object.fromEntries(
  PAGES.map(({ name }) => {
    const load = modules[`./pages/${name}/page.tsx`];
    if (load === undefined) throw new Error(`there is no page ${name}`);
    return [name, fetched(load)];
  }),
) as unknown as Readonly<Record<PageName, ComponentType>>;
