/** What follows once somebody is signed in. */
import { useQueryClient } from '@tanstack/react-query';

/** Forgets whatever was read for somebody else; then the console shows what was asked for. */
export function useEntered(): () => void {
  const queries = useQueryClient();
  return () => void queries.resetQueries();
}
