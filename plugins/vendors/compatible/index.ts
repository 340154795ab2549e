/** The plugin `vendors/compatible`: anything that speaks the common styles at an address of its own. */
import { type Channel, definePlugin, type Vendor } from '../../../core/plugin.ts';

function credentials(channel: Channel): Record<string, string> {
  return { authorization: `Bearer ${channel.key}` };
}

const vendor: Vendor = {
  name: 'compatible',
  speaks: { chat: { path: '/chat/completions', headers: credentials } },
  defaultStyles: ['chat'],
  credentials,
};

export default definePlugin({ name: 'vendors/compatible', api: 1, create: () => ({ vendors: [vendor] }) });
