/** Fir, whose chat endpoint is nearly the usual one: its streams are frames, its model stands in the path. An outside plugin in plain JavaScript. */
import { definePlugin } from 'turnpike/plugin';

const credentials = ({ key }) => ({ 'x-fir-key': key });

export default definePlugin({
  name: 'fir',
  api: 2,
  create: () => ({
    vendors: [
      {
        name: 'fir',
        speaks: {
          chat: {
            path: (_call, { model }) => `/models/${encodeURIComponent(model)}/chat`,
            headers: (channel) => credentials(channel),
            request: ({ user, ...body }) => (user === undefined ? body : { ...body, end_user: user }),
            frames: {
              mediaType: 'application/x-fir-stream',
              lengthOf: (bytes) => (bytes.length < 4 ? undefined : 4 + bytes.readUInt32BE(0)),
              read: (frame) => ({ data: frame.toString('utf8', 4) }),
            },
          },
        },
        judge: (status) => (status === 420 ? 'busy' : undefined),
        credentials,
      },
    ],
  }),
});
