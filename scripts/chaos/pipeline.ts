/** The plugins of the gateways that are killed. */
export const CHAOS_PIPELINE: readonly string[] = [
  'accounts',
  'second-factors',
  'departments',
  'auth',
  'counters',
  'keys',
  'limits',
  'prices',
  'quota',
  'plans',
  'models',
  'styles',
  'vendors/compatible',
  'log',
  'audit',
  'console',
];
