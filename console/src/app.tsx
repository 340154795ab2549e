/** The application: theme, language, gateway status, session, and the page of the current address. */
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Activity, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter';
import { HOME, Refusal } from './api/client.ts';
import type { Self } from './api/hooks.ts';
import { useApi } from './api/hooks.ts';
import { OTHER_ADDRESSES, PAGES } from './page-list.ts';
import { isSignInAddress, SIGN_IN_ADDRESSES, takeRequestedPage } from './pages/sign-in/addresses.ts';
import { PAGE_COMPONENTS } from './pages.tsx';
import { Empty, Failure } from './parts/notes.tsx';
import { ConsoleBoundary, PageBoundary } from './shell/boundary.tsx';
import { fetched } from './shell/fetched.tsx';
import { Shell } from './shell/shell.tsx';
import { resolver, theme } from './shell/theme.ts';
import { VerifyDialog } from './shell/verify-dialog.tsx';
import { chosenZone, storeZone, type Zone, ZoneContext } from './shell/zone.ts';
import { firstLanguage, type Language, LanguageContext, texts } from './text.ts';

const SignIn = fetched(() => import('./pages/sign-in/page.tsx'));
const useText = texts({
  nothing: ['Page not found', '未找到页面'],
  nothingAbout: ['Choose a page in the navigation.', '请在导航栏中选择页面。'],
  reveal: ['Show or hide the password', '显示或隐藏密码'],
});

/** When a session has ended, shows the sign-in at the same address. */
function refreshSession(error: unknown): void {
  if (error instanceof Refusal && error.code === 'not_signed_in')
    void queries.invalidateQueries({ queryKey: ['GET /api/user/self'] });
}
const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== 'GET /api/user/self') refreshSession(error);
    },
  }),
  mutationCache: new MutationCache({ onError: refreshSession }),
  defaultOptions: {
    // Requests are not queued while the browser reports to be offline: they fail at once.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      // Refusals are not retried; network errors are, because a restarting gateway is back soon.
      retry: (count, error) => count < 2 && error instanceof Refusal && (error.status === 0 || error.status >= 502),
    },
  },
});
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
// The scroll lock of dialogs adds a style element and looks for the nonce here.
if (nonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: nonce });

/** The application. */
export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const languages = useMemo(
    () => ({
      language,
      choose(chosen: Language) {
        localStorage.setItem('turnpike.language', chosen);
        setLanguage(chosen);
      },
    }),
    [language],
  );
  const [zone, setZone] = useState(chosenZone);
  const zones = useMemo(
    () => ({
      zone,
      choose(chosen: Zone) {
        storeZone(chosen);
        setZone(chosen);
      },
    }),
    [zone],
  );
  // Accessible names for the buttons that components include.
  const named = useMemo(() => {
    const { reveal, words } = useText[language];
    const toggle = {
      ...theme.components?.PasswordInput?.defaultProps,
      visibilityToggleButtonProps: { 'aria-label': reveal },
    };
    return {
      ...theme,
      components: {
        ...theme.components,
        CloseButton: { defaultProps: { 'aria-label': words.close } },
        PasswordInput: { defaultProps: toggle },
      },
    };
  }, [language]);
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  }, [language]);
  return (
    <MantineProvider
      theme={named}
      cssVariablesResolver={resolver}
      defaultColorScheme="auto"
      {...(nonce !== undefined && { getStyleNonce: () => nonce })}
    >
      <LanguageContext value={languages}>
        <ZoneContext value={zones}>
          <QueryClientProvider client={queries}>
            <Notifications position="bottom-right" />
            <Router base={HOME.pathname.replace(/\/$/, '')}>
              <ConsoleBoundary>
                <Gate />
              </ConsoleBoundary>
            </Router>
          </QueryClientProvider>
        </ZoneContext>
      </LanguageContext>
    </MantineProvider>
  );
}

const waiting = (
  <Center mih="60vh">
    <Loader />
  </Center>
);

/** Shows the pages to a signed-in user, and the sign-in to all others. */
function Gate() {
  const self = useApi('GET /api/user/self', undefined, { retry: false, staleTime: 30_000 });
  const [path, go] = useLocation();
  const isIn = self.data !== undefined && self.error?.status !== 401;
  // After a sign-in, go to the address requested before: an OAuth sign-in returns to the first page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on mount only
  useEffect(() => {
    const requestedPage = isIn ? takeRequestedPage() : undefined;
    if (requestedPage !== undefined && (path === '/' || isSignInAddress(path))) go(requestedPage, { replace: true });
  }, [isIn]);
  useClearOnUserChange(self.data?.id);
  if (self.isPending) return waiting;
  if (self.data === undefined && self.error?.status !== 401)
    return <Failure error={self.error} again={() => void self.refetch()} />;
  return (
    <>
      {self.data !== undefined && (
        // When a session ends, the page stays mounted but hidden, so that the same user can continue after signing in.
        <Activity mode={isIn ? 'visible' : 'hidden'}>
          <Content key={self.data.id} self={self.data} />
        </Activity>
      )}
      {!isIn && (
        <PageBoundary>
          <Suspense fallback={waiting}>
            <SignIn />
          </Suspense>
        </PageBoundary>
      )}
    </>
  );
}

/** The pages of a signed-in user. Remounted for another user, so that no state is kept. */
function Content({ self }: { readonly self: Self }) {
  const allowed = PAGES.filter(({ group }) => group === 'you' || self.role >= (group === 'admin' ? 10 : 100));
  return (
    <Shell pages={allowed.map(({ name }) => name)} self={self}>
      <VerifyDialog />
      <PageBoundary>
        <Suspense fallback={waiting}>
          <Switch>
            {allowed.map(({ name, path }) => (
              <Route key={name} path={path} component={PAGE_COMPONENTS[name]} />
            ))}
            {Object.entries(OTHER_ADDRESSES).map(([from, to]) => (
              <Route key={from} path={from}>
                <RedirectTo to={to} />
              </Route>
            ))}
            {SIGN_IN_ADDRESSES.map((path) => (
              <Route key={path} path={path}>
                <Redirect to="/" replace />
              </Route>
            ))}
            <Route>
              <EmptyState />
            </Route>
          </Switch>
        </Suspense>
      </PageBoundary>
    </Shell>
  );
}

/** Clears the query cache if another user has signed in, for example in another tab. */
function useClearOnUserChange(id: number | undefined): void {
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (id === undefined) return;
    if (before.current !== undefined && before.current !== id)
      void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /api/user/self' });
    before.current = id;
  }, [id]);
}

/** The page of the current address, with its parameters. */
function RedirectTo({ to }: { readonly to: string }) {
  const search = useSearch();
  return <Redirect to={search === '' ? to : `${to}?${search}`} replace />;
}

function EmptyState() {
  const text = useText();
  return <Empty title={text.nothing}>{text.nothingAbout}</Empty>;
}
