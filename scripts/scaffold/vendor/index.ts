/** The vendor `my-plugin`: an upstream that uses Chat Completions, with its key in a custom header. */
import { type Channel, definePlugin } from 'turnpike/plugin';

const credentials = ({ key }: Channel): Record<string, string> => ({ 'x-my-plugin-key': key });

export default definePlugin({
  name: 'my-plugin',
  api: 2,
  create: () => ({
    vendors: [
      {
        name: 'my-plugin',
        url: () => 'https://api.my-plugin.example/v1',
        speaks: {
          chat: {
            path: '/chat/completions',
            headers: credentials,
            // Fields that this vendor names differently; without `request`, the client's bytes are forwarded unchanged.
            request({ user, ...body }) {
              return user === undefined ? body : { ...body, end_user: user };
            },
          },
        },
        credentials,
      },
    ],
  }),
});
