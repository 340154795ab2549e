/** Models and prices in the formats that API clients expect; and the groups of channels. */

import { Catalog } from '../../../../core/contracts/catalog.ts';
import { DEFAULT_GROUP, type GroupChoice, Groups } from '../../../../core/contracts/groups.ts';
import type { Account, Holder } from '../../../../core/contracts/identity.ts';
import { Keys } from '../../../../core/contracts/keys.ts';
import { Prices } from '../../../../core/contracts/prices.ts';
import type { Caller } from '../../../../core/plugin.ts';
import { reaches } from '../../access/guards.ts';
import { number, partly, text } from '../../format/schemas.ts';
import { cardOf, cardSchema } from '../../records/model-card.ts';
import { ratiosOf } from '../../records/price.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Models');

/** Without the section `groups`: prices and models are the same for all. */
const ONE_GROUP: readonly GroupChoice[] = [{ name: DEFAULT_GROUP, factor: '1' }];
const groupsSchema = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: {
      ratio: {
        type: ['number', 'string'],
        description: 'The price factor for you; `auto`: that of the group that serves the call.',
      },
      desc: text,
    },
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
  /**
   * The groups whose channels the keys of a user can use; of administrators, who may set any, and without the section, all. Of visitors, those of new
   * users, if they can register.
   */
  function groupsFor(account: Account | undefined): readonly GroupChoice[] {
    const groups = host.find(Groups);
    if (groups === undefined) return ONE_GROUP;
    if (account === undefined && site.registration !== 'open') return [];
    const all = groups.all(account?.group);
    if (account !== undefined && reaches(account.role, 'admin')) return all;
    const own = account?.group ?? DEFAULT_GROUP;
    const choices = groups.choices(own).map(({ name }) => name);
    return all.filter(({ name }) => name === own || choices.includes(name));
  }

  const titleOf = (name: string): string => (host.find(Groups) === undefined ? 'Default' : name);

  /** Those of some groups that serve a model. */
  function serving(choices: readonly GroupChoice[], model: string): readonly GroupChoice[] {
    const groups = host.find(Groups);
    return groups === undefined ? choices : choices.filter(({ name }) => groups.serves(name, model));
  }

  /** The model names that a user may see: what one of their groups serves. */
  function namesFor(account: Account | undefined): readonly string[] {
    const names = need(Catalog).names();
    if (host.find(Groups) === undefined || (account !== undefined && reaches(account.role, 'admin'))) return names;
    const choices = groupsFor(account);
    return names.filter((name) => serving(choices, name).length > 0);
  }

  /** The model names that the caller may see, and its groups: those of a user, or of a key; of visitors as of new users if they can register, otherwise none. */
  async function visibleTo(
    caller: Omit<Caller, 'query'>,
    account: Account | undefined,
  ): Promise<{ readonly names: readonly string[]; readonly choices: readonly GroupChoice[] }> {
    const secret = /^bearer +(sk-\S+)$/i.exec(caller.headers.authorization ?? '')?.[1];
    const holder = account !== undefined || secret === undefined ? undefined : await need(Keys).find(secret);
    if (holder?.key.enabled === true && holder.account.enabled) return seenBy(holder);
    const isShown = account !== undefined || site.registration === 'open';
    return { names: isShown ? namesFor(account) : [], choices: groupsFor(account) };
  }

  function seenBy(holder: Holder) {
    const groups = host.find(Groups);
    const names = need(Catalog)
      .names()
      .filter((name) => need(Keys).allows(holder.key, name));
    if (groups === undefined) return { names, choices: ONE_GROUP };
    return {
      names: names.filter((name) => groups.reachOf(holder, name) !== undefined),
      choices: groups.all(holder.account.group).filter(({ name }) => name === groups.nameOf(holder)),
    };
  }

  /** The styles that clients may use: their API names and paths. */
  const endpoints = (): readonly (readonly [name: string, style: string, path: string])[] =>
    [...host.styles().values()].flatMap(({ name, ingress }) => {
      const called = ENDPOINTS[name];
      return ingress === undefined || called === undefined ? [] : [[called, name, ingress.path] as const];
    });

  const shownGroups = (account: Account | undefined) =>
    Object.fromEntries(
      groupsFor(account).map(({ name, factor }) => [name, { ratio: ratioOf(factor), desc: titleOf(name) }]),
    );

  function listed(name: string, choices: readonly GroupChoice[]) {
    const catalog = need(Catalog);
    const price = host.find(Prices)?.of(name);
    // Without a price it cannot be called.
    if (price === undefined) return [];
    const model = catalog.require(name);
    return [
      {
        model_name: name,
        owner_by: model.from[0]?.channel.vendor ?? '',
        enable_groups: serving(choices, name).map((choice) => choice.name),
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
        const { names, choices } = await visibleTo(request, request.visitor);
        return {
          success: true,
          message: '',
          data: names.flatMap((name) => listed(name, choices)),
          vendors: [],
          group_ratio: Object.fromEntries(
            choices.flatMap(({ name, factor }) => (factor === undefined ? [] : [[name, Number(factor)]])),
          ),
          usable_group: Object.fromEntries(choices.map(({ name }) => [name, titleOf(name)])),
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
      handle: ({ account }) => namesFor(account),
    }),
    route('member', 'GET', '/api/models/catalog', {
      summary: 'Lists the models that you may call, with purpose, abilities, price and health.',
      answer: { type: 'array', items: cardSchema },
      // Hundreds of models are a long list with prices.
      heavy: true,
      handle({ account }) {
        const catalog = need(Catalog);
        const prices = host.find(Prices);
        const channels = reaches(account.role, 'admin') ? catalog.channels() : undefined;
        const isGrouped = host.find(Groups) !== undefined;
        const choices = groupsFor(account);
        return namesFor(account).map((name) => {
          const { name: model, free, from } = catalog.require(name);
          return cardOf({
            name,
            model,
            free,
            facts: catalog.facts(name),
            price: prices?.of(name),
            publishedContext: prices?.publishedContext(name),
            pathOf: (style) => host.styles().get(style)?.ingress?.path ?? '',
            groups: isGrouped ? serving(choices, name) : undefined,
            channels: channels?.filter((channel) => from.some((place) => place.channel.name === channel.name)),
          });
        });
      },
    }),
    route('member', 'GET', '/api/user/self/groups', {
      summary:
        'Lists the groups of channels that you may choose for your keys, with their price factors; that of your account is one of them. One if there are no groups.',
      answer: groupsSchema,
      handle: ({ account }) => shownGroups(account),
    }),
    route('visitor', 'GET', '/api/user/groups', {
      summary: 'Lists the groups of channels that new users may choose for their keys. One if there are no groups.',
      answer: groupsSchema,
      handle: ({ visitor }) => shownGroups(visitor),
    }),
    route('admin', 'GET', '/api/group/', {
      summary: 'Lists the names of the groups.',
      answer: { type: 'array', items: text },
      handle: ({ account }) => groupsFor(account).map(({ name }) => name),
    }),
  ];
}

/** A factor as clients expect it: a number. */
function ratioOf(factor: string | undefined): number | 'auto' {
  return factor === undefined ? 'auto' : Number(factor);
}
