/** The pages with their names in both languages and their icons. Each page is loaded when it is first opened. */

import type { ComponentType } from 'react';
import {
  IconActivity,
  IconBell,
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
} from './icons.ts';
import { PAGES, type PageName } from './page-list.ts';
import { fetched } from './shell/fetched.tsx';
import { type Pair, texts } from './text.ts';

/** The names of the pages. */
export const usePageNames = texts({
  home: ['Home', '首页'],
  connect: ['Connect', '接入'],
  keys: ['Keys', '密钥'],
  playground: ['Playground', '模型体验'],
  models: ['Models', '模型'],
  logs: ['Logs', '日志'],
  usage: ['Usage', '用量'],
  wallet: ['Wallet', '钱包'],
  security: ['Security', '安全'],
  departments: ['Departments', '部门'],
  team: ['Team', '团队'],
  users: ['Users', '用户'],
  payments: ['Payments', '支付'],
  vendors: ['Vendors', '供应商'],
  prices: ['Prices', '价格'],
  config: ['Config', '配置'],
  alerts: ['Alerts', '警报'],
  audit: ['Audit', '审计'],
  system: ['System', '系统'],
} satisfies Record<PageName, Pair>);

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
  alerts: IconBell,
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
