/** The plugin `vendors/demo`: a vendor without key or network that answers itself, so that a newcomer sees everything work. */
import { definePlugin, type Vendor } from '../../../core/plugin.ts';
import { createDemoServer } from './server.ts';

export default definePlugin({
  name: 'vendors/demo',
  api: 1,
  create(host) {
    const server = createDemoServer(host.clock);
    const vendor: Vendor = {
      name: 'demo',
      keyless: true,
      url: () => server.url(),
      speaks: { chat: { path: '/chat/completions', headers: () => ({}) } },
    };
    return { vendors: [vendor], start: () => server.start(), stop: () => server.stop() };
  },
});
