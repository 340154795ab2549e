/** The vendor `my-plugin`: an upstream that speaks chat completions, with its key in a header of its own. */
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
            // What this vendor calls otherwise; without `request`, the client's bytes are sent as they are.
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
