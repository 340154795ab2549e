/** What follows once somebody is signed in. */
import { useQueryClient } from '@tanstack/react-query';

/** Asks who is signed in now, and reads again what the console shows. What another person had read is forgotten (`app.tsx`). */
export function useEntered(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries
      .refetchQueries({ queryKey: ['GET /api/user/self'] })
      .then(() => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /api/user/self' }));
}
