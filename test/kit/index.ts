/** What the authors of plugins import to test them: a gateway, a vendor that misbehaves on request, contracts, and time by hand. */
export * from './calls.ts';
export * from './clock.ts';
export * from './counters-contract.ts';
export * from './drive.ts';
export * from './fake-vendor.ts';
export * from './fixtures.ts';
export * from './gateway.ts';
export * from './multipart.ts';
export * from './peers.ts';
export * from './raw-client.ts';
export * from './reconcile.ts';
export * from './recordings.ts';
export * from './script.ts';
export * from './store-contract.ts';
export * from './style-contract.ts';
export * from './usage-records.ts';
export * from './vendor-contract.ts';
