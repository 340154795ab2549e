/**
 * The plugin `vendors/demo`: a vendor without key or network whose replies are generated in this process, for a first
 * look at the gateway.
 */
import { type Dialect, definePlugin, type Vendor } from '../../../core/plugin.ts';
import { createDemoServer } from './server.ts';

function at(path: string): Dialect {
  return { path, headers: () => ({}) };
}

export default definePlugin({
  name: 'vendors/demo',
  api: 2,
  create(host) {
    const server = createDemoServer(host.clock);
    const vendor: Vendor = {
      name: 'demo',
      keyless: true,
      url: () => server.url(),
      speaks: {
        chat: at('/chat/completions'),
        embeddings: at('/embeddings'),
        images: at('/images/generations'),
        edits: at('/images/edits'),
        speech: at('/audio/speech'),
        transcription: at('/audio/transcriptions'),
        translation: at('/audio/translations'),
      },
    };
    return { vendors: [vendor], start: () => server.start(), stop: () => server.stop() };
  },
});
