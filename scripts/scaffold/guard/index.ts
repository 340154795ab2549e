/** The guard `my-plugin`: refuses requests that contain one of the configured words. */
import { definePlugin, refuse, typed } from 'turnpike/plugin';

const section = typed({
  type: 'object',
  additionalProperties: false,
  properties: { words: { type: 'array', items: { type: 'string', minLength: 1 }, default: [] } },
});

export default definePlugin({
  name: 'my-plugin',
  api: 2,
  sections: { 'my-plugin': section },
  create: (_host, { 'my-plugin': { words } }) => ({
    inspect(_x, content) {
      return content.mapTexts((text) => {
        const found = words.find((word) => text.includes(word));
        if (found !== undefined)
          refuse(400, 'content_refused', `The request contains "${found}", which my-plugin forbids.`);
        return text;
      });
    },
    report: () => [`refuses ${words.length} words`],
  }),
});
