/** The modules that the build makes of Tabler's icons (vite.config.ts). */
declare module '~icons/*' {
  const Icon: ReturnType<typeof import('./parts/icon.tsx').icon>;
  export default Icon;
}
