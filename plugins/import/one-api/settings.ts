/**
 * The table `options` of one-api, new-api and one-hub: what becomes a section of gateway.yaml, and a note for each row that does not. The names and
 * defaults were read on 2026-11-29 in `model/option.go` and `setting/` of new-api 0.6.3 to 0.10, `model/option.go` and `common/config/config.go` of
 * one-api 0.6.10, and `model/option.go` of one-hub.
 */
import type { Decimal } from '../../../core/sdk.ts';
import { decimalIn } from '../cells.ts';
import { type Note, type Program, Secret, type Setting } from '../inventory.ts';
import { asObject, partsOf, type Row, textOf } from '../values.ts';
import type { Options } from './options.ts';

/** The settings of a site. */
export interface SettingsOf {
  readonly program: Program;
  readonly options: Options;
  /** Quota units in one currency unit here, and there. */
  readonly perUnit: bigint;
  readonly quotaPerUnit: Decimal;
}

/** Sections of gateway.yaml, and what is not in them. */
export interface ReadSettings {
  readonly sections: Readonly<Record<string, Setting>>;
  readonly notes: readonly Note[];
}

type Section = Record<string, Setting>;

/** What a part of the settings becomes. */
interface Part {
  /** Members of sections. */
  readonly sections: Readonly<Record<string, Section>>;
  /** The options that it is made of. */
  readonly used: readonly string[];
  readonly notes?: readonly Note[];
}

const NOTHING: Part = { sections: {}, used: [] };

/** Reads the options. */
export function readSettings(of: SettingsOf): ReadSettings {
  const parts = [
    mailOf,
    siteOf,
    registrationOf,
    githubOf,
    oidcOf,
    passkeysOf,
    paymentsOf,
    wordsOf,
    attemptsOf,
    welcomeOf,
    limitsOf,
  ].map((part) => part(of));
  const sections: Record<string, Section> = {};
  for (const part of parts)
    for (const [name, members] of Object.entries(part.sections)) sections[name] = joined(sections[name], members);
  const used = new Set(parts.flatMap((part) => part.used));
  return {
    sections,
    notes: [
      ...parts.flatMap(({ notes = [] }) => notes),
      ...of.options.names
        .filter((name) => !used.has(name) && !READ_ELSEWHERE.has(name))
        .map((name) => noteOf(name, of.options)),
    ],
  };
}

/** Members of both; `oauth` is made of several parts. */
function joined(one: Section = {}, other: Section): Section {
  const both = Object.entries(other).map(([name, value]): [string, Setting] => {
    const before = one[name];
    return [name, before === undefined ? value : { ...(before as Section), ...(value as Section) }];
  });
  return { ...one, ...Object.fromEntries(both) };
}

/** Quota units there in those of this gateway, rounded down. */
const unitsOf = (units: bigint, { perUnit, quotaPerUnit }: SettingsOf): number =>
  Number((units * perUnit * 10n ** BigInt(quotaPerUnit.scale)) / quotaPerUnit.digits);

const decide = (option: string, what: string, why: string): Note => ({
  kind: 'decide',
  where: `options.${option}`,
  what,
  why,
});

function mailOf({ options }: SettingsOf): Part {
  const used = ['SMTPServer', 'SMTPPort', 'SMTPAccount', 'SMTPToken', 'SMTPFrom', 'SMTPSSLEnabled'];
  const host = options.text('SMTPServer');
  if (host === undefined) return NOTHING;
  const port = options.whole('SMTPPort') ?? 587n;
  const account = options.text('SMTPAccount');
  const scheme = port === 465n || options.truth('SMTPSSLEnabled', false) ? 'smtps' : 'smtp';
  const login =
    account === undefined
      ? ''
      : `${encodeURIComponent(account)}:${encodeURIComponent(options.text('SMTPToken') ?? '')}@`;
  const from = options.text('SMTPFrom') ?? account;
  return {
    sections: {
      mail: {
        smtp: new Secret('SMTP_URL', `${scheme}://${login}${host}:${port}`),
        ...(from !== undefined && { from }),
      },
    },
    used,
  };
}

/** The longest name of a gateway here. */
const LONGEST_NAME = 50;

function siteOf({ options }: SettingsOf): Part {
  const name = options.text('SystemName');
  const url = options.text('ServerAddress')?.replace(/\/+$/, '');
  const isUrl = url !== undefined && /^https?:\/\/[^/?#@\s]+(?:\/[A-Za-z0-9._~-]+)*$/.test(url);
  const why =
    'it becomes `console.url`, which links in emails contain, unless that is set here: it must be the address that users will use';
  return {
    sections: {
      ...((name !== undefined || isUrl) && {
        console: {
          ...(name !== undefined && { name: [...name].slice(0, LONGEST_NAME).join('') }),
          ...(isUrl && { url }),
        },
      }),
    },
    used: ['SystemName', ...(isUrl ? ['ServerAddress'] : [])],
    notes: isUrl ? [{ kind: 'changed', where: 'options.ServerAddress', what: 'ServerAddress', why }] : [],
  };
}

function registrationOf({ options }: SettingsOf): Part {
  const used = [
    'RegisterEnabled',
    'PasswordRegisterEnabled',
    'EmailVerificationEnabled',
    'EmailDomainRestrictionEnabled',
    'EmailDomainWhitelist',
  ];
  const proof: Section = options.truth('EmailVerificationEnabled', false) ? { emailProof: true } : {};
  if (!options.truth('RegisterEnabled', true) || !options.truth('PasswordRegisterEnabled', true)) {
    return { sections: { console: { registration: 'closed', ...proof } }, used };
  }
  if (options.truth('EmailDomainRestrictionEnabled', false)) {
    const why =
      'registration there is open for some domains of email addresses only, which is not possible here: it is closed';
    return {
      sections: { console: { registration: 'closed', ...proof } },
      used,
      notes: [decide('EmailDomainRestrictionEnabled', 'registration', why)],
    };
  }
  if (options.text('RegisterEnabled') !== undefined) {
    return { sections: { console: { registration: 'open', ...proof } }, used };
  }
  return {
    sections: Object.keys(proof).length > 0 ? { console: proof } : {},
    used,
    notes: [
      decide(
        'RegisterEnabled',
        'registration',
        'it is open there, because that was never changed, and not here: set `console.registration: open` if any visitor may register',
      ),
    ],
  };
}

const CALLBACK = 'register the callback address of this gateway there: its address and /api/oauth/';

const offThere = (name: string): Note => ({
  kind: 'left',
  where: 'options',
  what: `sign-in with ${name}`,
  why: 'it is off there',
});

function githubOf({ options }: SettingsOf): Part {
  const [id, secret] = [options.text('GitHubClientId'), options.text('GitHubClientSecret')];
  if (id === undefined || secret === undefined) return NOTHING;
  const used = ['GitHubClientId', 'GitHubClientSecret', 'GitHubOAuthEnabled'];
  // A way to sign in that is off there would let in users who cannot get in there.
  if (!options.truth('GitHubOAuthEnabled', false)) return { sections: {}, used, notes: [offThere('GitHub')] };
  return {
    sections: { console: { oauth: { github: { id, secret: new Secret('GITHUB_CLIENT_SECRET', secret) } } } },
    used,
    notes: [decide('GitHubClientId', 'sign-in with GitHub', `${CALLBACK}github`)],
  };
}

/** new-api has `oidc.client_id`, one-api `OidcClientId`, one-hub `OIDCClientId`. */
function oidcOf({ options }: SettingsOf): Part {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => options.text(name)).find((text) => text !== undefined);
  const id = first('oidc.client_id', 'OidcClientId', 'OIDCClientId');
  const secret = first('oidc.client_secret', 'OidcClientSecret', 'OIDCClientSecret');
  const known = first('oidc.well_known', 'OidcWellKnown')?.replace(/\/?\.well-known\/openid-configuration$/, '');
  const issuer = known ?? options.text('OIDCIssuer');
  const used = options.names.filter((name) => /^oidc(?:\.|[A-Z])/i.test(name) && /^(?:oidc\.|Oidc|OIDC)/.test(name));
  if (used.length === 0) return NOTHING;
  if (id === undefined || secret === undefined || issuer === undefined || !/^https?:\/\//.test(issuer)) {
    return {
      sections: {},
      used,
      notes: [
        decide(
          used[0]!,
          'sign-in with OIDC',
          'it needs an id, a secret and an issuer here, and has only a part of them',
        ),
      ],
    };
  }
  const isOn = ['oidc.enabled', 'OidcEnabled', 'OIDCAuthEnabled'].some((name) => options.truth(name, false));
  if (!isOn) return { sections: {}, used, notes: [offThere('OIDC')] };
  return {
    sections: {
      console: { oauth: { oidc: { type: 'oidc', id, secret: new Secret('OIDC_CLIENT_SECRET', secret), issuer } } },
    },
    used,
    notes: [decide(used[0]!, 'sign-in with OIDC', `${CALLBACK}oidc`)],
  };
}

function passkeysOf({ options }: SettingsOf): Part {
  const rpId = options.text('passkey.rp_id');
  return rpId === undefined ? NOTHING : { sections: { console: { passkeys: { rpId } } }, used: ['passkey.rp_id'] };
}

function paymentsOf(of: SettingsOf): Part {
  const { options } = of;
  const providers = [epayOf(of), stripeOf(of), creemOf(of)].filter((part) => part.used.length > 0);
  if (providers.length === 0) return NOTHING;
  const smallest = options.whole('MinTopUp');
  const amounts = amountsOf(options);
  const shared: Section = {
    ...(smallest !== undefined && smallest > 0n && { smallest: Number(smallest) }),
    ...(amounts.length > 0 && { amounts }),
  };
  return {
    sections: { payments: Object.assign({}, shared, ...providers.map(({ sections }) => sections.payments)) as Section },
    used: ['MinTopUp', 'payment_setting.amount_options', ...providers.flatMap(({ used }) => used)],
    notes: providers.flatMap(({ notes = [] }) => notes),
  };
}

function amountsOf(options: Options): readonly number[] {
  const list = options.list('payment_setting.amount_options') ?? [];
  return list.filter((each): each is number => Number.isSafeInteger(each) && (each as number) > 0);
}

/** A price as the section has it: a decimal text. */
function priceIn(options: Options, name: string): string | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const { digits } = decimalIn(`options, ${name}`, text);
  return digits > 0n ? text : undefined;
}

function epayOf({ options }: SettingsOf): Part {
  const [url, id, key] = [
    options.text('PayAddress')?.replace(/\/+$/, ''),
    options.text('EpayId'),
    options.text('EpayKey'),
  ];
  if (url === undefined || id === undefined || key === undefined || !/^https?:\/\/[^?#\s]+$/.test(url)) return NOTHING;
  const methods = listIn(options, 'PayMethods').flatMap((row): readonly Section[] => {
    const [type, name] = [textOf(row, 'type'), textOf(row, 'name')];
    return type === undefined || name === undefined || type === 'stripe' ? [] : [{ type, name }];
  });
  return {
    sections: {
      payments: {
        epay: {
          // The program's default, in yuan.
          ...{ currency: 'CNY', price: priceIn(options, 'Price') ?? '7.3', id, key: new Secret('EPAY_KEY', key), url },
          ...(methods.length > 0 && { methods }),
        },
      },
    },
    used: ['PayAddress', 'EpayId', 'EpayKey', 'Price', 'PayMethods'],
    notes: [
      decide(
        'PayAddress',
        'payments with Epay',
        'the provider notifies /api/user/epay/notify of this gateway: it must reach it at `console.url`',
      ),
    ],
  };
}

function stripeOf({ options }: SettingsOf): Part {
  const secret = options.text('StripeApiSecret');
  if (secret === undefined) return NOTHING;
  const webhook = options.text('StripeWebhookSecret');
  const price = priceIn(options, 'StripeUnitPrice');
  return {
    sections: {
      payments: {
        stripe: {
          secret: new Secret('STRIPE_SECRET', secret),
          ...(webhook !== undefined && { webhookSecret: new Secret('STRIPE_WEBHOOK_SECRET', webhook) }),
          ...(price !== undefined && { price }),
        },
      },
    },
    used: ['StripeApiSecret', 'StripeWebhookSecret', 'StripeUnitPrice'],
    notes: [
      decide(
        'StripeApiSecret',
        'payments with Stripe',
        `add the webhook /api/stripe/webhook of this gateway at Stripe, put its secret into \`payments.stripe.webhookSecret\`, and check \`currency\` and \`price\`: there they are those of a product${
          price === undefined ? ', and no price is stored' : ''
        }`,
      ),
    ],
  };
}

function creemOf(of: SettingsOf): Part {
  const { options } = of;
  const key = options.text('CreemApiKey');
  if (key === undefined) return NOTHING;
  const webhook = options.text('CreemWebhookSecret');
  const products = listIn(options, 'CreemProducts').flatMap((row): readonly Section[] => {
    const [id, name, price, currency] = ['productId', 'name', 'price', 'currency'].map((member) => textOf(row, member));
    const quota = textOf(row, 'quota');
    if (id === undefined || name === undefined || price === undefined || quota === undefined || !/^\d+$/.test(quota))
      return [];
    const units = unitsOf(BigInt(quota), of);
    return [{ id, name, price, ...(currency !== undefined && { currency }), quota: units }];
  });
  return {
    sections: {
      payments: {
        creem: {
          key: new Secret('CREEM_KEY', key),
          ...(webhook !== undefined && { webhookSecret: new Secret('CREEM_WEBHOOK_SECRET', webhook) }),
          ...(options.truth('CreemTestMode', false) && { url: 'https://test-api.creem.io' }),
          products,
        },
      },
    },
    used: ['CreemApiKey', 'CreemWebhookSecret', 'CreemProducts', 'CreemTestMode'],
    notes: [decide('CreemApiKey', 'payments with Creem', 'set the webhook /api/creem/webhook of this gateway there')],
  };
}

const listIn = (options: Options, name: string): readonly Row[] => (options.list(name) ?? []).map(asObject);

/** Words that requests must not contain. The program looks for them inside other words, too, so they are a pattern here. */
function wordsOf({ options }: SettingsOf): Part {
  const used = ['CheckSensitiveEnabled', 'CheckSensitiveOnPromptEnabled', 'SensitiveWords'];
  const words = partsOf(options.text('SensitiveWords'), /\r?\n/);
  if (words.length === 0) return NOTHING;
  if (!options.truth('CheckSensitiveEnabled', true) || !options.truth('CheckSensitiveOnPromptEnabled', true)) {
    return {
      sections: {},
      used,
      notes: [
        {
          kind: 'left',
          where: 'options.SensitiveWords',
          what: 'SensitiveWords',
          why: 'the program does not check requests for them: its option is off',
        },
      ],
    };
  }
  const quoted = words.map((word) => word.replace(/[\\.+*?()|[\]{}^$]/g, (character) => `\\${character}`));
  return {
    sections: {
      guard: {
        rules: [{ name: 'sensitive words', pattern: `(?i)${quoted.join('|')}`, where: 'input', action: 'refuse' }],
      },
    },
    used,
  };
}

/** The most channels that a request may try here. */
const MOST_ATTEMPTS = 20n;

function attemptsOf({ options }: SettingsOf): Part {
  const retries = options.whole('RetryTimes');
  if (retries === undefined || retries < 0n) return NOTHING;
  const max = retries + 1n > MOST_ATTEMPTS ? MOST_ATTEMPTS : retries + 1n;
  return { sections: { listen: { attempts: { max: Number(max) } } }, used: ['RetryTimes'] };
}

function welcomeOf(of: SettingsOf): Part {
  const units = of.options.whole('QuotaForNewUser');
  if (units === undefined || units < 0n) return NOTHING;
  return { sections: { quota: { welcome: unitsOf(units, of) } }, used: ['QuotaForNewUser'] };
}

/** Requests of a user within some minutes: all of them, and those that succeed; 0 is no limit. */
function limitsOf({ options }: SettingsOf): Part {
  if (!options.truth('ModelRequestRateLimitEnabled', false)) return NOTHING;
  const minutes = options.whole('ModelRequestRateLimitDurationMinutes') ?? 1n;
  const counts = [
    options.whole('ModelRequestRateLimitCount') ?? 0n,
    options.whole('ModelRequestRateLimitSuccessCount') ?? 1_000n,
  ].filter((count) => count > 0n);
  const used = [
    'ModelRequestRateLimitEnabled',
    'ModelRequestRateLimitDurationMinutes',
    'ModelRequestRateLimitCount',
    'ModelRequestRateLimitSuccessCount',
  ];
  if (counts.length === 0 || minutes <= 0n) return { sections: {}, used };
  const least = counts.reduce((one, other) => (one < other ? one : other));
  const perMinute = least / minutes > 0n ? least / minutes : 1n;
  const why = `at most ${least} requests of a user within ${minutes} minutes there; ${perMinute} within one minute here`;
  return {
    sections: { limits: { perAccount: { requestsPerMinute: Number(perMinute) } } },
    used,
    notes:
      minutes === 1n && counts.length < 2
        ? []
        : [{ kind: 'changed', where: 'options.ModelRequestRateLimitCount', what: 'rate limit of users', why }],
  };
}

/** Options that prices, groups, channels and amounts are made of. */
const READ_ELSEWHERE = new Set([
  ...[
    'ModelRatio',
    'CompletionRatio',
    'ModelPrice',
    'CacheRatio',
    'CreateCacheRatio',
    'ImageRatio',
    'AudioRatio',
    'AudioCompletionRatio',
  ],
  ...[
    'SelfUseModeEnabled',
    'AudioTokenJson',
    'billing_setting.billing_mode',
    'billing_setting.billing_expr',
    'QuotaPerUnit',
  ],
  ...['GroupRatio', 'GroupGroupRatio', 'UserUsableGroups', 'AutoGroups'],
  ...[
    'group_ratio_setting.group_ratio',
    'group_ratio_setting.group_group_ratio',
    'group_ratio_setting.group_special_usable_group',
  ],
  ...['gemini.version_settings', 'gemini.safety_settings', 'global.thinking_model_blacklist'],
]);

const PAGES = 'a text of its pages: write it in the console, under Settings';
const LOOKS = 'how its pages look or show amounts';
const REWARDS = 'there are no rewards for invitations here';
const NO_SIGN_IN = 'there is no such sign-in here: its users sign in otherwise';
const HEALTH = 'channels are left alone and tried again by themselves here';
const TASKS = 'tasks for images, music and video are not supported here';
const OWN = 'a setting of its own work';

type Fact = readonly [kind: 'left' | 'decide', why: string];
const left = (why: string): Fact => ['left', why];

/** Options by name, and why they have no place here. */
const OPTIONS: Readonly<Record<string, Fact>> = {
  ...Object.fromEntries(['Notice', 'About', 'HomePageContent', 'Footer', 'Logo'].map((name) => [name, left(PAGES)])),
  ...Object.fromEntries(
    ['TopUpLink', 'ChatLink', 'ChatLink2', 'ChatLinks', 'Chats', 'Theme', 'DocsLink'].map((name) => [
      name,
      left(LOOKS),
    ]),
  ),
  ...Object.fromEntries(
    [
      'DisplayInCurrencyEnabled',
      'DisplayTokenStatEnabled',
      'DefaultCollapseSidebar',
      'USDExchangeRate',
      'general_setting.quota_display_type',
    ].map((name) => [name, left(LOOKS)]),
  ),
  ...Object.fromEntries(
    ['QuotaForInviter', 'QuotaForInvitee', 'InviterRewardType', 'InviterRewardValue'].map((name) => [
      name,
      left(REWARDS),
    ]),
  ),
  ...Object.fromEntries(
    [
      'AutomaticDisableChannelEnabled',
      'AutomaticEnableChannelEnabled',
      'ChannelDisableThreshold',
      'AutomaticDisableKeywords',
    ].map((name) => [name, left(HEALTH)]),
  ),
  ...Object.fromEntries(
    [
      'AutomaticDisableStatusCodes',
      'AutomaticRetryStatusCodes',
      'DisableChannelKeywords',
      'RetryCooldownSeconds',
      'RetryTimeOut',
    ].map((name) => [name, left(HEALTH)]),
  ),
  ...Object.fromEntries(
    [
      'DrawingEnabled',
      'TaskEnabled',
      'MjNotifyEnabled',
      'MjAccountFilterEnabled',
      'MjModeClearEnabled',
      'MjForwardUrlEnabled',
    ].map((name) => [name, left(TASKS)]),
  ),
  MjActionCheckSuccessEnabled: left(TASKS),
  ...Object.fromEntries(
    [
      'FileUploadPermission',
      'FileDownloadPermission',
      'ImageUploadPermission',
      'ImageDownloadPermission',
      'DataExportEnabled',
    ].map((name) => [name, left(OWN)]),
  ),
  ...Object.fromEntries(
    [
      'DataExportInterval',
      'DataExportDefaultTime',
      'StreamCacheQueueLength',
      'LogConsumeEnabled',
      'OldTokenMaxId',
      'PreConsumedQuota',
    ].map((name) => [name, left(OWN)]),
  ),
  ...Object.fromEntries(
    [
      'ApproximateTokenEnabled',
      'ExposeRatioEnabled',
      'DemoSiteEnabled',
      'StopOnSensitiveEnabled',
      'WorkerUrl',
      'WorkerValidKey',
    ].map((name) => [name, left(OWN)]),
  ),
  ...Object.fromEntries(
    [
      'TelegramOAuthEnabled',
      'TelegramBotToken',
      'TelegramBotName',
      'WeChatAuthEnabled',
      'WeChatServerAddress',
      'WeChatServerToken',
    ].map((name) => [name, left(NO_SIGN_IN)]),
  ),
  ...Object.fromEntries(
    [
      'WeChatAccountQRCodeImageURL',
      'LinuxDOOAuthEnabled',
      'LinuxDOClientId',
      'LinuxDOClientSecret',
      'LarkClientId',
      'LarkClientSecret',
    ].map((name) => [name, left(NO_SIGN_IN)]),
  ),
  LarkAuthEnabled: left(NO_SIGN_IN),
  DefaultUseAutoGroup: left('new keys get the group of their account here'),
  QuotaRemindThreshold: left('users set it themselves here'),
  RootUserEmail: left('it is the address of the root account'),
  CustomCallbackAddress: left('providers of payments notify `console.url` here'),
  StripePriceId: left('Stripe needs no product here'),
  StripeMinTopUp: left('the least amount is `payments.smallest` for all providers'),
  TopupGroupRatio: ['decide', 'all groups pay the same for a top-up here'],
  'payment_setting.amount_discount': ['decide', 'larger amounts get no discount here'],
  RechargeDiscount: ['decide', 'larger amounts get no discount here'],
  Price: left('the price of a top-up, and no provider of payments is set up there'),
  PaymentUSDRate: ['decide', 'the price of a unit: see `payments.price`'],
  PaymentMinAmount: ['decide', 'the least amount of a top-up: see `payments.smallest`'],
  PasswordLoginEnabled: ['decide', 'sign-in with passwords can not be turned off here'],
  TurnstileCheckEnabled: ['decide', 'there is no captcha here: `console.limits` limits registrations'],
  TurnstileSiteKey: left('there is no captcha here'),
  TurnstileSecretKey: left('there is no captcha here'),
  ModelRequestRateLimitGroup: ['decide', 'limits of groups: see `limits`, or limits of single keys'],
  'claude.model_headers_settings': ['decide', 'headers for single models: add them to `headers` of their channels'],
  'claude.default_max_tokens': left('the limit of a model is known here'),
};

/** Groups of options of new-api by what they begin with. */
const PREFIXES: readonly (readonly [prefix: string, fact: Fact])[] = [
  ['ModelRequestRateLimit', left('the rate limit is off there')],
  ['gemini.', left('how it translates for Gemini')],
  ['claude.', left('how it translates for Claude')],
  ['grok.', left('how it calls xAI')],
  ['qwen.', left('how it calls Ali')],
  ['global.', left('how it forwards requests')],
  ['console_setting.', left(PAGES)],
  ['legal.', left(PAGES)],
  ['theme.', left(LOOKS)],
  ['general_setting.', left(LOOKS)],
  ['checkin_setting.', left('there are no daily rewards here')],
  ['model_deployment.', left('deployments of models are not supported here')],
  ['monitor_setting.', left(HEALTH)],
  ['performance_setting.', left(OWN)],
  ['fetch_setting.', left('which addresses files are fetched from is set in `listen`')],
  ['passkey.', left('passkeys are always possible here')],
  ['discord.', left(NO_SIGN_IN)],
  ['Waffo', left('there is no such provider of payments here')],
];

function noteOf(name: string, options: Options): Note {
  const [kind, why] =
    OPTIONS[name] ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1] ?? left('this import does not know it');
  // What is off needs no decision.
  const isOff = options.text(name) === 'false' && name !== 'PasswordLoginEnabled';
  if (isOff) return { kind: 'left', where: 'options', what: name, why: 'it is off there' };
  return { kind, where: kind === 'left' ? 'options' : `options.${name}`, what: name, why };
}
