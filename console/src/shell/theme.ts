/** The theme: WCAG 2.2 AA contrast in light and dark, small radii, dense tables. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const pine: MantineColorsTuple = [
  '#eefaf5',
  '#d9f2e7',
  '#b0e3cf',
  '#7fd1b3',
  '#4bbb94',
  '#23a078',
  '#0b7a5b',
  '#096a50',
  '#085a44',
  '#064535',
];

const COLORS = ['pine', 'gray', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'grape', 'violet'] as const;

/** The header of a dialog is not the header of the page. */
const HEADLESS = { header: { role: 'presentation' } };

/** The theme of all components. */
export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: 6,
  colors: { pine },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' } } },
  components: {
    Anchor: { defaultProps: { underline: 'always' } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm' }, styles: { label: { textTransform: 'none' } } },
    Button: { defaultProps: { size: 'xs' } },
    Drawer: { defaultProps: { position: 'right', size: 'lg', attributes: HEADLESS } },
    // The first item gets the focus, not the menu itself, which has no name.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, attributes: HEADLESS } },
    NumberInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { visibilityToggleFocusable: true } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', fz: 'sm', highlightOnHover: true } },
    Tooltip: {
      defaultProps: { withArrow: true, multiline: true, maw: 320, events: { hover: true, focus: true, touch: true } },
    },
  },
});

/** Mantine's dimmed and coloured texts have too little contrast for small print. */
export const resolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-pine-7)',
    '--turnpike-ground': 'var(--mantine-color-gray-0)',
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-light-color`, shade(name, 9)])),
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-text`, shade(name, 9)])),
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-outline`, shade(name, 9)])),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-pine-3)',
    '--turnpike-ground': 'var(--mantine-color-dark-8)',
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-light-color`, shade(name, 2)])),
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-text`, shade(name, 3)])),
    ...Object.fromEntries(COLORS.map((name) => [`--mantine-color-${name}-outline`, shade(name, 3)])),
  },
});

/** Some colours are too bright even in their darkest shade: yellow and orange are replaced with brown, green and teal are darkened. */
function shade(name: string, at: number): string {
  if (at === 9 && name === 'yellow') return '#7a4a00';
  if (at === 9 && name === 'orange') return '#8f3a00';
  if (at === 9 && name === 'green') return '#1f6b30';
  if (at === 9 && name === 'teal') return '#06664a';
  return `var(--mantine-color-${name}-${at})`;
}
