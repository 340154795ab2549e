/** The plugin `styles`: the APIs that clients can use, and the stored responses. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { Inspecting } from '../../core/contracts/inspecting.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Running } from '../../core/contracts/running.ts';
import { definePlugin } from '../../core/plugin.ts';
import { speech, transcription, translation } from './audio/index.ts';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { embeddings } from './embeddings/index.ts';
import { errors } from './errors.ts';
import { createResponseHistory, migrations, responsesSection } from './history/index.ts';
import { imageStyles, variationsRoute } from './images/index.ts';
import { countTokensRoute } from './messages/count-tokens.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';

export default definePlugin({
  name: 'styles',
  api: 2,
  errors,
  sections: { responses: responsesSection },
  migrations,
  wants: [Catalog, Inspecting, Keys, Running],
  create(host, config) {
    const { recall, settle, routes, invariants, start, stop } = createResponseHistory(host, config.responses);
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
      routes: [...routes, countTokensRoute(host), variationsRoute],
      settle,
      invariants,
      start,
      stop,
    };
  },
});
