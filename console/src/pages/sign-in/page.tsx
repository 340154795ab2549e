/** For whoever is not signed in: shown at whatever address was asked for, so that one gets there; some pages have their own. */
import { useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';
import { keepAsked } from './addresses.ts';
import { Forgot } from './forgot.tsx';
import { Register } from './register.tsx';
import { Reset } from './reset.tsx';
import { SignInSteps } from './steps.tsx';

export default function SignIn() {
  const [path] = useLocation();
  const search = useSearch();
  useEffect(() => keepAsked(path, search), [path, search]);
  switch (path) {
    case '/register':
      return <Register />;
    case '/forgot':
      return <Forgot />;
    case '/reset':
      return <Reset />;
    default:
      return <SignInSteps />;
  }
}
