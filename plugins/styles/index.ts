/** The plugin `styles`: the APIs that clients can use, and the stored responses. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { Groups } from '../../core/contracts/groups.ts';
import { Inspecting } from '../../core/contracts/inspecting.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Running } from '../../core/contracts/running.ts';
import { StoredResponses } from '../../core/contracts/stored-responses.ts';
import { definePlugin } from '../../core/plugin.ts';
import { speech, transcription, translation } from './audio/index.ts';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { embeddings } from './embeddings/index.ts';
import { errors } from './errors.ts';
import { createResponseHistory, createStoredResponses, migrations, responsesSection } from './history/index.ts';
import { imageStyles, variationsRoute } from './images/index.ts';
import { countTokensRoutes } from './messages/count-tokens.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

export default definePlugin({
  name: 'styles',
  api: 2,
  errors,
  sections: { responses: responsesSection },
  migrations,
  wants: [Catalog, Groups, Inspecting, Keys, Running],
  provides: [StoredResponses],
  create(host, config) {
    const { recall, settle, routes, invariants, start, stop } = createResponseHistory(host, config.responses);
    host.provide(StoredResponses, createStoredResponses(host));
    return {
      styles: [
        chat,
        { ...responses, ingress: { ...responses.ingress!, recall } },
        messages,
        completions,
        embeddings,
        ...imageStyles(host.clock),
        speech,
        transcription,
        translation,
      ],
      routes: [...routes, ...countTokensRoutes(host), variationsRoute],
      // Of the clients of Groq, and of both generations of Azure.
      pathAliases: { '/openai/v1': '/v1', '/openai/deployments/:deployment': '/v1', '/openai': '/v1' },
      settle,
      invariants,
      start,
      stop,
    };
  },
});
