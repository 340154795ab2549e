/** The sign-in, shown at any address so that the user continues there; some sign-in pages have their own address. */
import { useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';
import { storeRequestedPage } from './addresses.ts';
import { Forgot } from './forgot.tsx';
import { Register } from './register.tsx';
import { Reset } from './reset.tsx';
import { SignInSteps } from './steps.tsx';

export default function SignIn() {
  const [path] = useLocation();
  const search = useSearch();
  useEffect(() => storeRequestedPage(path, search), [path, search]);
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
