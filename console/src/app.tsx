/** The console as a whole: theme, language, what is known of the gateway, who is signed in, and the page of the address. */
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Activity, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter';
import { HOME, Refusal } from './api/client.ts';
import { useApi } from './api/hooks.ts';
import { OTHER_ADDRESSES, PAGES } from './page-list.ts';
import { isSignInAddress, SIGN_IN_ADDRESSES, takeAsked } from './pages/sign-in/addresses.ts';
import { PAGE_COMPONENTS } from './pages.tsx';
import { Empty, Failure } from './parts/notes.tsx';
import { ConsoleBoundary, PageBoundary } from './shell/boundary.tsx';
import { fetched } from './shell/fetched.tsx';
import type { Self } from './shell/self.ts';
import { Shell } from './shell/shell.tsx';
import { resolver, theme } from './shell/theme.ts';
import { VerifyDialog } from './shell/verify-dialog.tsx';
import { chosenZone, keepZone, type Zone, ZoneContext } from './shell/zone.ts';
import { firstLanguage, type Language, LanguageContext, texts, useText } from './text.ts';

const SignIn = fetched(() => import('./pages/sign-in/page.tsx'));
const TEXT = texts(
  {
    nothing: 'Page not found',
    nothingAbout: 'Choose a page in the navigation.',
    close: 'Close',
    reveal: 'Show or hide the password',
  },
  {
    nothing: '没有这个页面',
    nothingAbout: '导航栏里列出了所有页面。',
    close: '关闭',
    reveal: '显示或隐藏输入的内容',
  },
);

/** Whoever is signed in no more is let in anew where they are. */
function lookWhoIsThere(error: unknown): void {
  if (error instanceof Refusal && error.code === 'not_signed_in')
    void queries.invalidateQueries({ queryKey: ['GET /api/user/self'] });
}
const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== 'GET /api/user/self') lookWhoIsThere(error);
    },
  }),
  mutationCache: new MutationCache({ onError: lookWhoIsThere }),
  defaultOptions: {
    // Nothing is queued while the browser believes to be offline: it is asked at once, and says at once that nothing answers.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      // What was refused is refused again; a gateway that restarts is back in a moment.
      retry: (count, error) => count < 2 && error instanceof Refusal && (error.status === 0 || error.status >= 502),
    },
  },
});
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
// What keeps the page behind a dialog from scrolling writes a style of its own, and looks for the nonce here.
if (nonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: nonce });

/** The console. */
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
        keepZone(chosen);
        setZone(chosen);
      },
    }),
    [zone],
  );
  // Buttons that components bring along have names, too.
  const named = useMemo(() => {
    const { close, reveal } = TEXT[language];
    const toggle = {
      ...theme.components?.PasswordInput?.defaultProps,
      visibilityToggleButtonProps: { 'aria-label': reveal },
    };
    return {
      ...theme,
      components: {
        ...theme.components,
        CloseButton: { defaultProps: { 'aria-label': close } },
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

/** Lets in whoever is signed in, and lets all others do so. */
function Gate() {
  const self = useApi('GET /api/user/self', undefined, { retry: false, staleTime: 30_000 });
  const [path, go] = useLocation();
  const isIn = self.data !== undefined && self.error?.status !== 401;
  // Whoever comes in goes on to what was asked for before: a sign-in elsewhere leads back to the first page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: this is about the moment of coming in
  useEffect(() => {
    const asked = isIn ? takeAsked() : undefined;
    if (asked !== undefined && (path === '/' || isSignInAddress(path))) go(asked, { replace: true });
  }, [isIn]);
  useForgetting(self.data?.id);
  if (self.isPending) return waiting;
  if (self.data === undefined && self.error?.status !== 401)
    return <Failure error={self.error} again={() => void self.refetch()} />;
  return (
    <>
      {self.data !== undefined && (
        // A session that ends leaves everything as it is, out of sight, for the same person to go on after the sign-in.
        <Activity mode={isIn ? 'visible' : 'hidden'}>
          <Inside key={self.data.id} self={self.data} />
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

/** The pages of a person who is signed in. Another person gets it new: nothing of what was open stays. */
function Inside({ self }: { readonly self: Self }) {
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
                <Elsewhere to={to} />
              </Route>
            ))}
            {SIGN_IN_ADDRESSES.map((path) => (
              <Route key={path} path={path}>
                <Redirect to="/" replace />
              </Route>
            ))}
            <Route>
              <Nothing />
            </Route>
          </Switch>
        </Suspense>
      </PageBoundary>
    </Shell>
  );
}

/** Forgets what was read for one person where another has signed in meanwhile, in another tab. */
function useForgetting(id: number | undefined): void {
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (id === undefined) return;
    if (before.current !== undefined && before.current !== id)
      void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /api/user/self' });
    before.current = id;
  }, [id]);
}

/** The page that is meant, with what the address asked it for. */
function Elsewhere({ to }: { readonly to: string }) {
  const search = useSearch();
  return <Redirect to={search === '' ? to : `${to}?${search}`} replace />;
}

function Nothing() {
  const text = useText(TEXT);
  return <Empty title={text.nothing}>{text.nothingAbout}</Empty>;
}
