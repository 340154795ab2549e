/** The route `GET /v1/my-plugin`: returns the owner of the API key. */
import { definePlugin } from 'turnpike/plugin';

export default definePlugin({
  name: 'my-plugin',
  api: 2,
  create: () => ({
    routes: [
      {
        method: 'GET',
        path: '/v1/my-plugin',
        // The guard `key` of the plugin `auth`: a valid API key.
        access: ['key'],
        handle: ({ holder }) => ({ object: 'my-plugin', key: holder?.key.name, account: holder?.account.name }),
      },
    ],
  }),
});
