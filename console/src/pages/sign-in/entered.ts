/** The steps after a sign-in. */
import { useQueryClient } from '@tanstack/react-query';

/** Refetches the session and all data. `app.tsx` clears the data of another user. */
export function useAfterSignIn(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries
      .refetchQueries({ queryKey: ['GET /api/user/self'] })
      .then(() => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /api/user/self' }));
}
