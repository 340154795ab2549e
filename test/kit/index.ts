/** What the authors of plugins import to test them: a gateway, a vendor that misbehaves on request, contracts, and time by hand. */

export * from './clients/multipart.ts';
export * from './clients/raw-client.ts';
export * from './contracts/asked.ts';
export * from './contracts/client-contract.ts';
export * from './contracts/counters-contract.ts';
export * from './contracts/heard.ts';
export * from './contracts/store-contract.ts';
export * from './contracts/style-contract.ts';
export * from './contracts/vendor-contract.ts';
export * from './gateway/calls.ts';
export * from './gateway/clock.ts';
export * from './gateway/drive.ts';
export * from './gateway/fixtures.ts';
export * from './gateway/gateway.ts';
export * from './gateway/peers.ts';
export * from './gateway/reconcile.ts';
export * from './gateway/usage-records.ts';
export type { Scenario, ScenarioCall, Speech, SpeechName } from './speech.ts';
export * from './until.ts';
export * from './vendors/fake-vendor.ts';
export * from './vendors/recordings.ts';
export { SCENARIOS, SPEECHES } from './vendors/scenarios.ts';
export * from './vendors/script.ts';
export { CONTRACT_SCENARIOS, type Framing, type VendorSpeech } from './vendors/speech-wire.ts';
