/** The plugin `styles`: the kinds of requests this gateway understands. */
import { definePlugin } from '../../core/plugin.ts';
import { chat } from './chat/index.ts';

export default definePlugin({
  name: 'styles',
  api: 1,
  create: () => ({ styles: [chat] }),
});
