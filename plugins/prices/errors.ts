/** The errors of calls that have no price, and of newer list prices. */
import { defineErrors } from '../../core/sdk.ts';

const headers = { 'x-should-retry': 'false' };

const withoutPrice = (what: string, model: string, key: string): string =>
  `${what} has no price for the model "${model}". Send the request without it, or add \`${key}\` to the price of the model in gateway.yaml.`;

const ofCalls = defineErrors({
  tool_not_priced: {
    status: 402,
    param: 'tools',
    headers,
    text: (tool: string, model: string) => withoutPrice(`The tool "${tool}"`, model, `perUse: { ${tool}: 0.01 }`),
    help: 'A tool that the vendor runs has no price for this model (`perUse`). Send the request without it.',
  },
  service_not_priced: {
    status: 402,
    param: 'service_tier',
    headers,
    text: (tier: string, model: string) => withoutPrice(`The service tier "${tier}"`, model, `service: { ${tier}: 2 }`),
    help: 'The service tier has no price for this model (`service`). Send the request without it.',
  },
  model_not_priced: {
    status: 402,
    param: 'model',
    headers,
    text: (model: string) =>
      `The model "${model}" has no price, or none for calls of this kind. Add one to \`prices:\` in gateway.yaml, or set \`free: true\` in its entry.`,
    help: 'The model has no price, or none for calls of this kind. Ask an administrator to add one.',
  },
});

/** Errors of list prices that are to be updated. */
const ofUpdates = defineErrors(
  {
    price_list_refused: {
      status: 502,
      text: (reason: string) => `The published price list was not used: ${reason}.`,
      help: 'The published price list could not be read, or is implausible. Current prices stay as they are.',
    },
    price_list_changed: {
      status: 409,
      text: 'The published price list has changed. Compare it again.',
      help: 'The published price list has changed since it was compared. Compare it again.',
    },
  },
  'api',
);

/** By their codes. */
export const errors = { ...ofCalls, ...ofUpdates };
