/** Models and prices in the formats that API clients expect; and groups, of which there is only one. */
import type { Account } from '../../../core/contracts/accounts.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import type { Caller } from '../../../core/plugin.ts';
import { reaches } from '../access.ts';
import { cardOf, cardSchema } from '../records/model-card.ts';
import { ratiosOf } from '../records/price.ts';
import { type ApiRoute, type Tools, tagged } from '../route.ts';
import { number, partly, text } from '../schemas.ts';

const route = tagged('Models');

/** The group that every user is in: prices and models are the same for all. */
const GROUP = 'default';
const GROUPS = { [GROUP]: { ratio: 1, desc: 'Default' } };
const groupsSchema = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: { ratio: number, desc: text },
  },
} as const;

/** The names of the styles in the API. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
  embeddings: 'embeddings',
  images: 'image-generation',
};

export function modelRoutes({ host, site, need }: Tools): readonly ApiRoute[] {
  /** The model names that the caller may see: a user all, a key those it may call; visitors all if they can register, otherwise none. */
  async function visibleTo(caller: Omit<Caller, 'query'>, account: Account | undefined): Promise<readonly string[]> {
    const names = need(Catalog).names();
    if (account !== undefined) return names;
    const secret = /^bearer +(sk-\S+)$/i.exec(caller.headers.authorization ?? '')?.[1];
    const holder = secret === undefined ? undefined : await need(Keys).find(secret);
    if (holder?.key.enabled === true && holder.account.enabled) {
      return names.filter((name) => need(Keys).allows(holder.key, name));
    }
    return site.registration === 'open' ? names : [];
  }

  /** The styles that clients may use: their API names and paths. */
  const endpoints = (): readonly (readonly [name: string, style: string, path: string])[] =>
    [...host.styles().values()].flatMap(({ name, ingress }) => {
      const called = ENDPOINTS[name];
      return ingress === undefined || called === undefined ? [] : [[called, name, ingress.path] as const];
    });

  function listed(name: string) {
    const catalog = need(Catalog);
    const price = host.find(Prices)?.of(name);
    // Without a price it cannot be called.
    if (price === undefined) return [];
    const model = catalog.require(name);
    return [
      {
        model_name: name,
        owner_by: model.from[0]?.channel.vendor ?? '',
        enable_groups: [GROUP],
        supported_endpoint_types: endpoints()
          .filter(([, style]) => catalog.chain(name, style).length > 0)
          .map(([called]) => called),
        ...ratiosOf(price),
        price,
      },
    ];
  }

  return [
    route('visitor', 'GET', '/api/pricing', {
      spelling: 'bare',
      summary:
        'Lists the models that the caller may see, with prices: model_ratio 1 is 2 currency units per million input tokens.',
      answer: partly(
        ['success', 'data', 'group_ratio', 'usable_group', 'vendors', 'supported_endpoint', 'auto_groups'],
        {
          success: { const: true },
          message: text,
          data: {
            type: 'array',
            items: partly(['model_name', 'quota_type', 'model_ratio', 'model_price', 'completion_ratio'], {
              model_name: text,
              quota_type: { enum: [0, 1], description: '0: by tokens. 1: per call or per image.' },
              model_ratio: number,
              model_price: { type: 'number', description: 'Currency units per call or image.' },
              completion_ratio: { type: 'number', description: 'Ratio of the output price to the input price.' },
              cache_ratio: number,
              create_cache_ratio: number,
              owner_by: text,
              enable_groups: { type: 'array', items: text },
              supported_endpoint_types: { type: 'array', items: text },
              price: {
                type: 'object',
                description: 'The exact price: currency units as decimal numbers.',
              },
            }),
          },
          group_ratio: { type: 'object' },
          usable_group: { type: 'object' },
          vendors: { type: 'array' },
          supported_endpoint: { type: 'object' },
          auto_groups: { type: 'array' },
        },
      ),
      async handle(request) {
        const names = await visibleTo(request, request.visitor);
        return {
          success: true,
          message: '',
          data: names.flatMap(listed),
          vendors: [],
          group_ratio: { [GROUP]: 1 },
          usable_group: { [GROUP]: GROUPS[GROUP]!.desc },
          supported_endpoint: Object.fromEntries(
            endpoints().map(([called, , path]) => [called, { path, method: 'POST' }]),
          ),
          auto_groups: [],
        };
      },
    }),
    route('member', 'GET', '/api/user/models', {
      summary: 'Lists the names of the models that you may call.',
      answer: { type: 'array', items: text },
      handle: () => need(Catalog).names(),
    }),
    route('member', 'GET', '/api/models/catalog', {
      summary: 'Lists the models that you may call, with purpose, abilities, price and health.',
      answer: { type: 'array', items: cardSchema },
      handle({ account }) {
        const catalog = need(Catalog);
        const prices = host.find(Prices);
        const channels = reaches(account.role, 'admin') ? catalog.channels() : undefined;
        return catalog.names().map((name) => {
          const { name: model, free, from } = catalog.require(name);
          return cardOf({
            name,
            model,
            free,
            facts: catalog.facts(name),
            price: prices?.of(name),
            publishedContext: prices?.publishedContext(name),
            pathOf: (style) => host.styles().get(style)?.ingress?.path ?? '',
            channels: channels?.filter((channel) => from.some((place) => place.channel.name === channel.name)),
          });
        });
      },
    }),
    route('member', 'GET', '/api/user/self/groups', {
      summary: 'Lists the groups of your keys: one, for all keys.',
      answer: groupsSchema,
      handle: () => GROUPS,
    }),
    route('visitor', 'GET', '/api/user/groups', {
      summary: 'Lists the groups: one, for all users.',
      answer: groupsSchema,
      handle: () => GROUPS,
    }),
    route('admin', 'GET', '/api/group/', {
      summary: 'Lists the names of the groups.',
      answer: { type: 'array', items: text },
      handle: () => [GROUP],
    }),
  ];
}
