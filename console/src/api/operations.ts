/** What `/api` takes and answers, by method and path. Made by `npm run api-types`: change the schemas of the routes. */
// biome-ignore-all lint: made by a script
export type Receipt = {
  /** The charge can be explained exactly. False: too little was recorded, for the `reason` given. */
  exact: boolean;
  /** The billed items; every token is in one item. */
  items: ReceiptItem[];
  /** The price factor of the department, a decimal number. */
  factor: string;
  /** Quota units in a currency unit at that time; null: no price applied. */
  quota_per_unit: number | null;
  /** How the items are added up. */
  rounding: string;
  /** Quota units, a decimal number. */
  total: string;
  /** The final reservation in quota units; null: not recorded. */
  held: string | null;
  /** Quota units, a decimal number. */
  charged: string;
  /** hold: the charge was limited to the reservation, which could not be raised. delivery: the answer broke off, and the delivered part was charged. */
  capped_by: 'hold' | 'delivery' | null;
  /** Why the call was free, or why the charge cannot be explained (recovered: the gateway stopped during the call; not_noted: recorded by an older release). */
  reason: 'refused' | 'failed' | 'unused' | 'free' | 'unpriced' | 'recovered' | 'not_noted' | null;
  /** A subscription included the call; the balance paid nothing. */
  included: boolean;
} | null;
export type Price = {
  free: boolean;
  /** The whole price on one line. */
  text: string;
  /** Currency units per million tokens: input. */
  input?: string;
  /** Currency units per million tokens: input that is read from a cache. */
  cacheRead?: string;
  /** Currency units per million tokens: input that is written to a cache. */
  cacheWrite?: string;
  /** Currency units per million tokens: input that is written to a cache for an hour. */
  cacheWriteLong?: string;
  /** Currency units per million tokens: audio input. */
  inputAudio?: string;
  /** Currency units per million tokens: image input. */
  inputImage?: string;
  /** Currency units per million tokens: output. */
  output?: string;
  /** Currency units per million tokens: reasoning. */
  reasoning?: string;
  /** Currency units per million tokens: audio output. */
  outputAudio?: string;
  /** Currency units per million tokens: image output. */
  outputImage?: string;
  /** Currency units per image of any other kind. */
  perImage?: string;
  /** Currency units per million characters of speech. */
  characters?: string;
  /** Currency units per hour of audio input. */
  perHour?: string;
  /** Currency units per call, in addition to everything else. */
  perRequest?: string;
} | null;
export type PriceSource = {
  /** model: `price` of its entry in gateway.yaml. prices: the section `prices` of gateway.yaml. published: a list price that is part of this release. */
  kind: 'model' | 'prices' | 'published';
  /** The source as text. */
  text: string;
} | null;
export type NamedWindow = {
  /** Quota units. */
  limit?: number;
  /** Quota units. */
  used?: number;
  /** Quota units. */
  remaining?: number;
  /** Unix seconds; 0: none. */
  reset_at?: number;
} | null;
export type SignInResult = SignedIn | SecondStepRequired;

export interface Operations {
  'GET /api/about': { data: '' };
  'GET /api/alerts': { search: { limit?: number }; data: Alerts };
  'POST /api/alerts/test': { data: AlertTest[] };
  'GET /api/audit': {
    search: {
      before?: number;
      actor?: string;
      action?: string;
      start_timestamp?: number;
      end_timestamp?: number;
      page_size?: number;
    };
    data: {
      items: AuditEntry[];
      /** All entries, whatever the filters. */
      total: number;
      /** The `before` of the next page; null: this is the last. */
      before: number | null;
    };
  };
  'GET /api/audit/chain': {
    search: { after?: number };
    data: {
      /** The last entry that was verified now; if it equals `total`, the verification is complete. */
      checked: number;
      total: number;
      /** The head of the chain, as `turnpike audit verify --head` takes it. */
      head: string;
      /** The first entry with a wrong hash; null: none. */
      broken: { seq: number; why: string } | null;
    };
  };
  'GET /api/audit/export': {
    search: { before?: number; actor?: string; action?: string; start_timestamp?: number; end_timestamp?: number };
    data: string;
  };
  'GET /api/config': { data: Configuration };
  'PUT /api/config': {
    body: {
      /** At most 256 KiB. */
      text: string;
      /** The revision that it was made from. */
      revision: string;
      /** Why; shown with the version. */
      note?: string;
    };
    data: ConfigSaved;
  };
  'POST /api/config/check': {
    body: {
      /** At most 256 KiB. */
      text: string;
    };
    data: ConfigCheck;
  };
  'POST /api/config/edit': {
    body: {
      /** At most 256 KiB. */
      text: string;
      edits: {
        /** Names of members and positions in lists. The position behind the last item appends. Missing maps are created. */
        path: (string | number)[];
        /** The new value. */
        value?: { [k: string]: unknown };
        /** Removes the member or item. Always true. */
        remove?: boolean;
        /** The new name of the member; its value and place stay. */
        rename?: string;
      }[];
    };
    data: ConfigEdited;
  };
  'POST /api/config/models': {
    body: {
      /** At most 256 KiB. */
      text: string;
      /** The name of a channel of the text. */
      channel: string;
    };
    data: {
      models: {
        /** The vendor's name. */
        id: string;
        /** A model of the text uses it at this channel. */
        taken: boolean;
      }[];
    };
  };
  'POST /api/config/reload': {
    data: {
      generation: number;
      /** Unix seconds. */
      loaded_at: number;
    };
  };
  'GET /api/config/schema': { data: {} };
  'PUT /api/config/secrets/{name}': {
    params: { name: string };
    body: { value: string };
    data: {
      /** Why the configuration could not be loaded with it; the secret is set, and used after the next load. */
      problems: ConfigRemark[];
    };
  };
  'DELETE /api/config/secrets/{name}': { params: { name: string }; data: null };
  'POST /api/config/try': {
    body: {
      /** At most 256 KiB. */
      text: string;
      /** The name of a channel of the text. */
      channel: string;
      /** A public name of the text that the channel serves. */
      model?: string;
    };
    data: ConfigTry;
  };
  'GET /api/config/versions': {
    search: { p?: number; page_size?: number; ps?: number; size?: number };
    data: ConfigVersionPage;
  };
  'GET /api/config/versions/{id}': { params: { id: number }; data: ConfigVersionText };
  'POST /api/config/versions/{id}/restore': {
    params: { id: number };
    body: {
      /** The revision that it was made from. */
      revision: string;
      /** Why; shown with the version. */
      note?: string;
    };
    data: ConfigSaved;
  };
  'GET /api/data/': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      default_time?: string;
      username?: string;
      user_id?: number;
    };
    data: HourlyUsage[];
  };
  'GET /api/data/self': {
    search: { start_timestamp?: number; end_timestamp?: number; default_time?: string };
    data: HourlyUsage[];
  };
  'GET /api/department/': {
    search: { p?: number; page_size?: number; ps?: number; size?: number; keyword?: string; parent_id?: number };
    data: Department[];
  };
  'POST /api/department/': {
    body: {
      name: string;
      /** The parent department; null or 0: none. */
      parent_id?: number | null;
      /** The total budget in quota units, departments below included; null: no limit. */
      quota?: number | null;
      /** The budget of a calendar month (UTC), in quota units. */
      monthly_quota?: number | null;
      /** Price factor of calls by its members: 1 is the full price. Six decimals at most. */
      ratio?: number;
      /** 1 enabled, 0 disabled. */
      status?: 0 | 1;
    };
    data: Department;
  };
  'POST /api/department/batch': { body: { ids: number[]; action: 'enable' | 'disable' | 'delete' }; data: number };
  'GET /api/department/names': { data: { id: number; name: string; parent_id: number | null }[] };
  'GET /api/department/tree': { data: DepartmentNode[] };
  'GET /api/department/{id}': { params: { id: number }; data: Department };
  'PUT /api/department/{id}': {
    params: { id: number };
    body: {
      name?: string;
      /** The parent department; null or 0: none. */
      parent_id?: number | null;
      /** The total budget in quota units, departments below included; null: no limit. */
      quota?: number | null;
      /** The budget of a calendar month (UTC), in quota units. */
      monthly_quota?: number | null;
      /** Price factor of calls by its members: 1 is the full price. Six decimals at most. */
      ratio?: number;
      /** 1 enabled, 0 disabled. */
      status?: 0 | 1;
    };
    data: Department;
  };
  'DELETE /api/department/{id}': { params: { id: number }; data: null };
  'GET /api/department/{id}/members': {
    params: { id: number };
    search: { p?: number; page_size?: number; ps?: number; size?: number };
    data: User[];
  };
  'POST /api/department/{id}/members': {
    params: { id: number };
    body: {
      /** Users with a role below yours. */
      user_ids: number[];
    };
    data: number;
  };
  'DELETE /api/department/{id}/members/{user_id}': { params: { id: number; user_id: number }; data: null };
  'POST /api/department/{id}/recharge': {
    params: { id: number };
    body: {
      /** Quota units. */
      amount: number;
    };
    data: Department;
  };
  'GET /api/department/{id}/usage': {
    params: { id: number };
    data: {
      department: Department;
      /** The total budget; null: no limit. */
      tree_quota: number | null;
      /** The same as used_quota of the department. */
      tree_used_quota: number;
      /** Less the reservations of running calls; null: no limit. */
      remaining_quota: number | null;
      descendant_count: number;
      /** This calendar month (UTC); null without a budget. */
      monthly: {
        limit?: number;
        used?: number;
        remaining?: number;
        /** Unix seconds. */
        resets_at?: number;
      } | null;
    };
  };
  'GET /api/group/': { data: string[] };
  'GET /api/home_page_content': { data: '' };
  'GET /api/import': { data: ImportRun };
  'POST /api/import': {
    body: {
      program: 'auto' | 'new-api' | 'one-api' | 'one-hub' | 'litellm';
      /** Of its database: postgres:// or mysql://, with user and password. It is not stored. */
      url?: string;
      /** The id of the uploaded file. */
      upload?: string;
      /** `LITELLM_SALT_KEY`. It is not stored. */
      salt_key?: string;
      /** Only find out what would be done. */
      dry_run?: boolean;
      /** Takes over what has changed there since the last import. */
      update?: boolean;
    };
    data: {
      /** Unix seconds. */
      started_at: number;
    };
  };
  'GET /api/import/handouts': { data: string };
  'GET /api/import/report': { data: string };
  'POST /api/import/upload': {
    body: {
      id?: string;
      /** The bytes that were uploaded before. */
      offset?: number;
      /** At most 3 MiB, in base64. */
      data: string;
    };
    data: { id: string; size: number };
  };
  'GET /api/invitation': {
    search: { code: string };
    data: {
      /** The address of the invited user; empty: the invitation is for any visitor. */
      email: string;
      /** 1 member, 10 administrator. */
      role: 1 | 10;
      invited_by: string;
      /** Unix seconds; 0: unknown. */
      expires_at: number;
    };
  };
  'GET /api/log/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before?: string;
      format?: 'json' | 'csv';
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      request_id?: string;
      username?: string;
      user_id?: number;
      department_id?: number;
    };
    data: LogPage;
  };
  'GET /api/log/content/{request_id}': { params: { request_id: string }; data: CallContent };
  'GET /api/log/detail/{request_id}': { params: { request_id: string }; data: CallDetail };
  'GET /api/log/export': {
    search: {
      before?: string;
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      request_id?: string;
      username?: string;
      user_id?: number;
      department_id?: number;
    };
    data: string;
  };
  'GET /api/log/latency': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      username?: string;
      user_id?: number;
      department_id?: number;
    };
    data: Latency;
  };
  'GET /api/log/live': { data: RunningCalls };
  'GET /api/log/self': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before?: string;
      format?: 'json' | 'csv';
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      request_id?: string;
    };
    data: LogPage;
  };
  'GET /api/log/self/content/{request_id}': { params: { request_id: string }; data: CallContent };
  'GET /api/log/self/detail/{request_id}': { params: { request_id: string }; data: CallDetail };
  'GET /api/log/self/export': {
    search: {
      before?: string;
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      request_id?: string;
    };
    data: string;
  };
  'GET /api/log/self/latency': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
    };
    data: Latency;
  };
  'GET /api/log/self/live': {
    data: {
      /** Running calls in all gateways that answered; at most 200 are listed. */
      total: number;
      items: RunningCall[];
    };
  };
  'GET /api/log/self/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before?: string;
      start_timestamp?: number;
      end_timestamp?: number;
      type?: number;
      outcome?: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      request_id?: string;
      keyword?: string;
    };
    data: LogPage;
  };
  'GET /api/log/self/stat': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      type?: number;
      p?: string;
      page_size?: string;
    };
    data: UsageStatistics;
  };
  'GET /api/log/stat': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_name?: string;
      token_id?: number;
      model_name?: string;
      group?: string;
      channel?: string;
      type?: number;
      p?: string;
      page_size?: string;
      username?: string;
      user_id?: number;
    };
    data: UsageStatistics;
  };
  'GET /api/log/token': { search: { key?: string }; data: LogLine[] };
  'GET /api/models/catalog': { data: ModelCard[] };
  'GET /api/notice': { data: '' };
  'GET /api/oauth/email/bind': { search: { email: string; code: string }; data: null };
  'POST /api/oauth/email/bind': {
    body: {
      email: string;
      /** The code in the email. */
      code: string;
    };
    data: null;
  };
  'GET /api/oauth/state': { search: { provider?: string; aff?: string }; data: string };
  'POST /api/oauth/state': {
    body: {
      /** The provider's name: `github`. */
      provider?: string;
      intent?: 'login' | 'bind';
      /** An invitation, for `intent: login`: the account that it creates. */
      invite_code?: string;
      /** Accepted from tools that send it; it has no effect. */
      aff?: string;
    };
    data: {
      /** The state. */
      flow_token: string;
      /** Unix seconds. */
      expires_at: number;
      url: string;
    };
  };
  'GET /api/oauth/{provider}': {
    params: { provider: string };
    search: { code?: string; state?: string; iss?: string; error?: string; intent?: 'login' | 'bind' };
    data: SignedIn | SecondStepRequired | { action: 'bind' };
  };
  'GET /api/openapi.json': { data: { openapi: string; paths: {}; [k: string]: unknown } };
  'POST /api/playground/estimate': {
    body: {
      /** One of your keys. */
      token_id: number;
      /** The API style of the call: `chat`, `responses`, `messages`, `completions`, `embeddings`, `images`, `edits`, `speech`, `transcription`, `translation`, or one of a plugin. */
      style: string;
      /** The body of the call. */
      body: {};
    };
    data: Estimate;
  };
  'GET /api/price/': {
    data: {
      /** The version of the list prices in this release. */
      snapshot: { name: string; version: string };
      models: PricedModel[];
    };
  };
  'GET /api/price/update': { data: PriceComparison };
  'POST /api/price/update': {
    body: {
      /** Of the list that was compared. */
      digest: string;
      /** Only the changes of these: `PROVIDER MODEL`, as compared. Default: all. */
      models?: string[];
    };
    data: PriceUpdate;
  };
  'GET /api/price/update/history': {
    data: {
      /** The section `prices.updates` of gateway.yaml; null: there is none. */
      rule: {
        /** The interval in seconds; null: only on request. */
        every: number | null;
        /** What the scheduled comparison takes over; none: it only logs. */
        apply: 'none' | 'decreases' | 'all';
        /** Refused is a list that changes a sold model by more percent. */
        max_change: number;
      } | null;
      /** The last comparison, unix seconds; null: never. */
      checked_at: number | null;
      /** The last to become valid first. */
      updates: {
        /** Unix seconds. */
        taken_at: number;
        /** A username, `command line` or `schedule`. */
        taken_by: string;
        /** Unix seconds. */
        valid_from: number;
        /** The URL or file of the list. */
        source: string;
        /** `PROVIDER MODEL` */
        models: string[];
      }[];
    };
  };
  'GET /api/pricing': {
    data: {
      model_name: string;
      /** 0: by tokens. 1: per call or per image. */
      quota_type: 0 | 1;
      model_ratio: number;
      /** Currency units per call or image. */
      model_price: number;
      /** Ratio of the output price to the input price. */
      completion_ratio: number;
      cache_ratio?: number;
      create_cache_ratio?: number;
      owner_by?: string;
      enable_groups?: string[];
      supported_endpoint_types?: string[];
      /** The exact price: currency units as decimal numbers. */
      price?: {};
    }[];
  };
  'GET /api/redemption/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      state?: 'unused' | 'disabled' | 'used' | 'expired';
      whole?: '1';
    };
    data: RedemptionCodePage;
  };
  'POST /api/redemption/': {
    body: {
      name: string;
      quota: number;
      count?: number;
      /** Unix seconds, in a request in the future; 0: never. */
      expired_time?: number;
    };
    data: string[];
  };
  'PUT /api/redemption/': {
    search: { status_only?: string };
    body: {
      id: number;
      name?: string;
      quota?: number;
      /** Unix seconds, in a request in the future; 0: never. */
      expired_time?: number;
      /** 1 unused, 2 disabled, 3 used; changed to 1 or 2 only with `status_only`, otherwise send it unchanged. */
      status?: 1 | 2 | 3;
      /** Read-only: send it unchanged, or omit it. */
      user_id?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      username?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      key?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      created_time?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      redeemed_time?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      used_user_id?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      used_username?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      count?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      DeletedAt?: { [k: string]: unknown };
    };
    data: RedemptionCode;
  };
  'DELETE /api/redemption/invalid': { data: number };
  'GET /api/redemption/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      keyword?: string;
      state?: 'unused' | 'disabled' | 'used' | 'expired';
      whole?: '1';
    };
    data: RedemptionCodePage;
  };
  'GET /api/redemption/{id}': { params: { id: number }; data: RedemptionCode };
  'DELETE /api/redemption/{id}': { params: { id: number }; data: null };
  'GET /api/reset_password': { search: { email: string; turnstile?: string }; data: null };
  'GET /api/service-token/': { data: ServiceToken[] };
  'POST /api/service-token/': {
    body: {
      name: string;
      /** `write` includes `read`. */
      scopes: (
        | 'keys:read'
        | 'keys:write'
        | 'users:read'
        | 'users:write'
        | 'departments:read'
        | 'departments:write'
        | 'usage:read'
        | 'usage:write'
        | 'prompts:read'
        | 'prompts:write'
        | 'payments:read'
        | 'payments:write'
        | 'models:read'
        | 'models:write'
        | 'system:read'
        | 'system:write'
        | 'audit:read'
        | 'audit:write'
        | 'config:read'
        | 'config:write'
      )[];
      expires_days?: number;
      /** Addresses and networks (10.0.0.0/8) from which it is accepted. Default: any. */
      addresses?: string[];
    };
    data: NewServiceToken;
  };
  'DELETE /api/service-token/{id}': { params: { id: number }; data: null };
  'GET /api/setup': { data: { status: true; root_init: true; database_type: 'sqlite' } };
  'GET /api/status': { data: Status };
  'POST /api/subscription/admin/bind': { body: { user_id: number; plan: string }; data: SubscriptionState };
  'POST /api/subscription/admin/cancel': { body: { user_id: number }; data: SubscriptionState };
  'GET /api/subscription/admin/users/{id}': { params: { id: number }; data: SubscriptionState };
  'POST /api/subscription/alipay/pay': {
    body: PlanOrderRequest;
    data: {
      /** The payment page. */
      pay_link?: string;
      /** Instead of a page: the content of a QR code. */
      pay_url?: string;
      /** The QR code as an SVG data URL. */
      pay_qr?: string;
      order_id: string;
    };
  };
  'POST /api/subscription/balance/pay': {
    body: {
      /** Its name. */
      plan: string;
      /**
       * @deprecated
       * The same as plan.
       */
      plan_id?: string;
    };
    data: Order;
  };
  'POST /api/subscription/epay/pay': {
    body: PlanOrderRequest;
    /** The fields of a form to be posted to `url`. */
    data: { [k: string]: string };
  };
  'GET /api/subscription/plans': { data: { plan: Plan }[] };
  'GET /api/subscription/self': {
    data: {
      billing_preference?: 'subscription_first';
      /** The active one, if any. */
      subscriptions: { subscription: Subscription }[];
      /** The same, or the last expired one. */
      all_subscriptions: { subscription: Subscription }[];
    };
  };
  'POST /api/subscription/stripe/pay': {
    body: PlanOrderRequest;
    data: {
      /** The payment page. */
      pay_link?: string;
      order_id: string;
    };
  };
  'GET /api/system': { data: Vitals };
  'POST /api/system/backup': { data: { running: boolean } };
  'GET /api/system/doctor': { data: Diagnosis[] };
  'GET /api/system/history': { data: VitalsSample[] };
  'GET /api/team/budgets': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
    };
    data: { start_timestamp: number; end_timestamp: number; items: DepartmentBudget[] };
  };
  'GET /api/team/cost-trend': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
      granularity?: 'day' | 'hour';
      group_by?: 'department' | 'member' | 'model' | 'key';
      top?: number;
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      granularity: 'day' | 'hour';
      group_by: 'department' | 'member' | 'model' | 'key';
      items: UsageTrendItem[];
    };
  };
  'GET /api/team/forecast': { data: Forecast };
  'GET /api/team/members': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
    };
    data: { start_timestamp: number; end_timestamp: number; items: MemberUsage[] };
  };
  'GET /api/team/models': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
    };
    data: { start_timestamp: number; end_timestamp: number; items: ModelUsage[] };
  };
  'GET /api/team/overview': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      /** Calls that were served, or cost something. */
      requests: number;
      /** Calls that were refused or failed, and cost nothing. */
      errors: number;
      /** Quota units, with a fraction if there is one. */
      quota: number;
      /** The same in currency units, a decimal number. */
      cost: string;
      prompt_tokens: number;
      completion_tokens: number;
      /** Users with served calls. */
      active_members: number;
      active_keys: number;
      active_models: number;
      today: UsageSums;
      month: UsageSums;
      departments: {
        department_id: number;
        name: string;
        /** Calls that were served, or cost something. */
        requests: number;
        /** Calls that were refused or failed, and cost nothing. */
        errors: number;
        /** Quota units, with a fraction if there is one. */
        quota: number;
        /** The same in currency units, a decimal number. */
        cost: string;
        prompt_tokens: number;
        completion_tokens: number;
      }[];
    };
  };
  'GET /api/token/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      format?: 'json' | 'csv';
      sort?: 'id' | '-id' | 'name' | '-name' | 'accessed_time' | '-accessed_time' | 'expired_time' | '-expired_time';
      keyword?: string;
      token?: string;
      status?: 1 | 2 | 3 | 4;
      user_id?: number;
    };
    data: KeyPage;
  };
  'POST /api/token/': {
    body: {
      name: string;
      /** Expiry, Unix seconds in the future; -1: never. */
      expired_time?: number;
      /** The amount that it may spend from now on, running calls included, in quota units. If used_quota and held_quota of the record are sent along, it is the amount that was left then: what calls have spent since is not returned. */
      remain_quota?: number;
      /** Limited only by the user's balance. Default: true unless remain_quota is set. */
      unlimited_quota?: boolean;
      /** Default: true if model_limits is not empty. */
      model_limits_enabled?: boolean;
      /** Model names, separated by commas. */
      model_limits?: string;
      /** Allowed addresses and networks (10.0.0.0/8), one per line; empty: all. */
      allow_ips?: string | null;
      /** The group of channels that it uses; empty: that of its user. Users may choose the groups that GET /api/user/self/groups lists, administrators any. */
      group?: string | null;
      /** Limits of this key, in addition to those of all keys: one for all calls, and one for each model or pattern. */
      limits?: {
        /** A model, or a pattern such as `gpt-*`, whose models share the limits; empty: all calls of the key. */
        model?: string;
        /** Requests within any minute; null: no such limit. */
        requests_per_minute?: number | null;
        /** Input and output tokens within any minute; null: no such limit. */
        tokens_per_minute?: number | null;
        /** Concurrent calls; null: no such limit. */
        concurrent?: number | null;
        /** Quota units that may be spent in each day (UTC); null: no such limit. */
        daily_budget?: number | null;
        /** Quota units that may be spent in each week from Monday (UTC); null: no such limit. */
        weekly_budget?: number | null;
        /** Quota units that may be spent in each calendar month (UTC); null: no such limit. */
        monthly_budget?: number | null;
      }[];
      /** Refuse translations that would change the answer. */
      strict?: boolean;
      /** Read-only: send it unchanged, or omit it. */
      key?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      created_time?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      cross_group_retry?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      auto_groups?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      DeletedAt?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      accessed_time?: { [k: string]: unknown };
      /** Counted by the gateway: it says from when the remain_quota that is sent along is. */
      used_quota?: { [k: string]: unknown };
      /** Counted by the gateway: it says from when the remain_quota that is sent along is. */
      held_quota?: { [k: string]: unknown };
      /** For administrators: the owner, a user with a role below yours. Omitted or 0: yourself. */
      user_id?: number;
      /** Assigned by the gateway: 0, or omitted. */
      id?: number;
      /** 1 enabled, 2 disabled. Default: 1. */
      status?: 1 | 2;
    };
    data: Key;
  };
  'PUT /api/token/': {
    search: { status_only?: string };
    body: {
      name?: string;
      /** Expiry, Unix seconds in the future; -1: never. */
      expired_time?: number;
      /** The amount that it may spend from now on, running calls included, in quota units. If used_quota and held_quota of the record are sent along, it is the amount that was left then: what calls have spent since is not returned. */
      remain_quota?: number;
      /** Limited only by the user's balance. Default: true unless remain_quota is set. */
      unlimited_quota?: boolean;
      /** Default: true if model_limits is not empty. */
      model_limits_enabled?: boolean;
      /** Model names, separated by commas. */
      model_limits?: string;
      /** Allowed addresses and networks (10.0.0.0/8), one per line; empty: all. */
      allow_ips?: string | null;
      /** The group of channels that it uses; empty: that of its user. Users may choose the groups that GET /api/user/self/groups lists, administrators any. */
      group?: string | null;
      /** Limits of this key, in addition to those of all keys: one for all calls, and one for each model or pattern. */
      limits?: {
        /** A model, or a pattern such as `gpt-*`, whose models share the limits; empty: all calls of the key. */
        model?: string;
        /** Requests within any minute; null: no such limit. */
        requests_per_minute?: number | null;
        /** Input and output tokens within any minute; null: no such limit. */
        tokens_per_minute?: number | null;
        /** Concurrent calls; null: no such limit. */
        concurrent?: number | null;
        /** Quota units that may be spent in each day (UTC); null: no such limit. */
        daily_budget?: number | null;
        /** Quota units that may be spent in each week from Monday (UTC); null: no such limit. */
        weekly_budget?: number | null;
        /** Quota units that may be spent in each calendar month (UTC); null: no such limit. */
        monthly_budget?: number | null;
      }[];
      /** Refuse translations that would change the answer. */
      strict?: boolean;
      /** Read-only: send it unchanged, or omit it. */
      key?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      created_time?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      cross_group_retry?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      auto_groups?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      DeletedAt?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      accessed_time?: { [k: string]: unknown };
      /** Counted by the gateway: it says from when the remain_quota that is sent along is. */
      used_quota?: { [k: string]: unknown };
      /** Counted by the gateway: it says from when the remain_quota that is sent along is. */
      held_quota?: { [k: string]: unknown };
      /** For administrators: the owner, a user with a role below yours. Omitted or 0: yourself. */
      user_id?: number;
      id: number;
      /** 1 enabled, 2 disabled; 3 and 4 are ignored, and with `status_only` refused. */
      status?: 1 | 2 | 3 | 4;
    };
    data: Key;
  };
  'POST /api/token/batch': { body: { action?: 'delete' | 'enable' | 'disable'; ids: number[] }; data: number };
  'GET /api/token/default': { data: Key };
  'GET /api/token/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      format?: 'json' | 'csv';
      sort?: 'id' | '-id' | 'name' | '-name' | 'accessed_time' | '-accessed_time' | 'expired_time' | '-expired_time';
      keyword?: string;
      token?: string;
      status?: 1 | 2 | 3 | 4;
      user_id?: number;
    };
    data: KeyPage;
  };
  'GET /api/token/usage': {
    search: { days?: number; token_id?: string };
    data: {
      /** The days of the lists, oldest first. */
      dates: string[];
      items: KeyUsage[];
    };
  };
  'GET /api/token/users': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      keyword?: string;
      token?: string;
      user_id?: number;
      sort?: 'id' | '-id' | 'name' | '-name' | 'accessed_time' | '-accessed_time' | 'expired_time' | '-expired_time';
      format?: 'json' | 'csv';
    };
    data: OwnedKeyPage;
  };
  'GET /api/token/{id}': { params: { id: number }; data: Key };
  'DELETE /api/token/{id}': { params: { id: number }; data: null };
  'POST /api/token/{id}/key': {
    params: { id: number };
    body: {
      /** How long the old secret stays valid; default: not at all. */
      grace_seconds?: number;
    };
    data: Key;
  };
  'GET /api/token/{id}/limits': { params: { id: number }; data: KeyLimitUsage[] };
  'GET /api/usage/self/sums': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
      group_by?: 'none' | 'model' | 'key' | 'tag';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      group_by: 'none' | 'model' | 'key' | 'tag';
      total: UsageSums;
      /** Highest cost first; empty with `group_by=none`. */
      items: UsageGroup[];
    };
  };
  'GET /api/usage/self/trend': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_id?: number;
      model?: string;
      tag?: string;
      format?: 'json' | 'csv';
      granularity?: 'day' | 'hour';
      top?: number;
      group_by?: 'none' | 'model' | 'key' | 'tag';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      granularity: 'day' | 'hour';
      group_by: 'none' | 'model' | 'key' | 'tag';
      /** Oldest first; times without calls, and groups without calls at a time, are left out. */
      items: UsageTrendItem[];
    };
  };
  'GET /api/usage/sums': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      token_id?: number;
      model?: string;
      channel?: string;
      tag?: string;
      format?: 'json' | 'csv';
      group_by?: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel' | 'tag';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      group_by: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel' | 'tag';
      total: UsageSums;
      /** Highest cost first; empty with `group_by=none`. */
      items: UsageGroup[];
    };
  };
  'GET /api/usage/token/': {
    data: {
      code: true;
      message: 'ok';
      data: {
        object: 'token_usage';
        name: string;
        /** Quota units, with a fraction if there is one; for an unlimited key the used quota. */
        total_granted: number;
        total_used: number;
        /** 0 if it is unlimited. */
        total_available: number;
        /** Limited only by the user's balance. */
        unlimited_quota: boolean;
        model_limits?: {
          /** Always true. */
          [k: string]: boolean;
        };
        model_limits_enabled?: boolean;
        /** Unix seconds; 0: never. */
        expires_at?: number;
      };
    };
  };
  'GET /api/usage/trend': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      token_id?: number;
      model?: string;
      channel?: string;
      tag?: string;
      format?: 'json' | 'csv';
      granularity?: 'day' | 'hour';
      top?: number;
      group_by?: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel' | 'tag';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      granularity: 'day' | 'hour';
      group_by: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel' | 'tag';
      /** Oldest first; times without calls, and groups without calls at a time, are left out. */
      items: UsageTrendItem[];
    };
  };
  'GET /api/user/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      sort?:
        | 'id'
        | '-id'
        | 'username'
        | '-username'
        | 'role'
        | '-role'
        | 'group'
        | '-group'
        | 'last_login_at'
        | '-last_login_at'
        | 'quota'
        | '-quota'
        | 'used_quota'
        | '-used_quota';
      format?: 'json' | 'csv';
      keyword?: string;
      group?: string;
      role?: 1 | 10 | 100;
      status?: 1 | 2 | -1;
      department_id?: number;
    };
    data: UserPage;
  };
  'POST /api/user/': {
    body: {
      username: string;
      /** 8 to 256 characters; common passwords are refused. */
      password: string;
      /** Empty: unchanged. */
      display_name?: string;
      /** 1 member, 10 administrator; always below yours. */
      role?: 1 | 10;
      /** Counts as verified. */
      email?: string;
      /** The group of the account: of channels, if the configuration has `groups`; otherwise a free text. */
      group?: string;
      /** Never shown to the user. */
      remark?: string;
    };
    data: User;
  };
  'PUT /api/user/': {
    body: {
      id: number;
      username?: string;
      /** Empty: unchanged. */
      display_name?: string;
      /** Empty: unchanged; otherwise 8 to 256 characters. Requires a verification (POST /api/verify). */
      password?: string;
      /** Counts as verified; empty: none. Requires a verification (POST /api/verify). */
      email?: string | null;
      /** The group of the account: of channels, if the configuration has `groups`; otherwise a free text. */
      group?: string;
      /** Never shown to the user. */
      remark?: string;
      /** Read-only: send it unchanged, or omit it. */
      role?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      status?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      quota?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      unlimited_quota?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      department_id?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      department_name?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      has_password?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      created_at?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      DeletedAt?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      two_factor?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      passkey?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      bindings?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      used_quota?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      held_quota?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      last_login_at?: { [k: string]: unknown };
      /** Counted by the gateway; ignored. */
      debt?: { [k: string]: unknown };
    };
    data: User;
  };
  'POST /api/user/2fa/backup_codes': {
    body: {
      /** A code of the authenticator, or a backup code. */
      code: string;
    };
    data: {
      /** Each can be used once. */
      backup_codes: string[];
    };
  };
  'POST /api/user/2fa/disable': {
    body: {
      /** A code of the authenticator, or a backup code. */
      code: string;
    };
    data: null;
  };
  'POST /api/user/2fa/enable': {
    body: {
      /** A code of the authenticator, or a backup code. */
      code: string;
    };
    data: null;
  };
  'POST /api/user/2fa/setup': {
    data: {
      /** Base32. */
      secret: string;
      /** Same as otpauth. */
      qr_code_data: string;
      /** otpauth://totp/… */
      otpauth: string;
      /** The QR code as an SVG data URL. */
      qr: string;
      /** Each can be used once. */
      backup_codes: string[];
    };
  };
  'GET /api/user/2fa/status': {
    data: {
      enabled: boolean;
      /** Too many wrong codes: codes are refused for some time. */
      locked: boolean;
      /** Only if it is enabled. */
      backup_codes_remaining?: number;
    };
  };
  'POST /api/user/alipay/amount': { body: PriceRequest; data: string };
  'POST /api/user/alipay/pay': {
    body: TopUpRequest;
    data: {
      /** The payment page. */
      pay_link?: string;
      /** Instead of a page: the content of a QR code. */
      pay_url?: string;
      /** The QR code as an SVG data URL. */
      pay_qr?: string;
      order_id: string;
    };
  };
  'POST /api/user/amount': { body: PriceRequest; data: string };
  'POST /api/user/auth/logout': { data: null };
  'POST /api/user/batch': {
    body: {
      /** Users with a role below yours. */
      ids: number[];
      /** `delete` requires a verification (POST /api/verify). */
      action: 'enable' | 'disable' | 'delete' | 'set_group';
      /** For set_group. */
      group?: string;
      /** The reason, for the audit log. */
      reason?: string;
    };
    data: number;
  };
  'GET /api/user/billing': { data: { name: string; address: string; tax_id: string } };
  'PUT /api/user/billing': {
    body: {
      name?: string;
      /** Lines separated by line feeds. */
      address?: string;
      tax_id?: string;
    };
    data: null;
  };
  'POST /api/user/creem/pay': {
    body: {
      product_id: string;
      /** The payment method, one of `pay_methods`. */
      payment_method?: string;
      /** The page of the console to return to after payment; not for wallets. */
      success_url?: string;
      /** The page to return to without payment. */
      cancel_url?: string;
      /** Read-only: send it unchanged, or omit it. */
      price?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      money?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      quota?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      currency?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      top_up_code?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      pay_method_index?: { [k: string]: unknown };
    };
    data: { checkout_url: string; order_id: string };
  };
  'GET /api/user/department': {
    /** From your department to the top; empty if you are in none. */
    data: {
      name: string;
      /** 1 enabled; 0 disabled: calls are refused. */
      status: 0 | 1;
      /** Price factor of calls by its members: 1 is the full price. The first department's factor applies. */
      ratio: number;
      budgets: {
        /** Total, or per calendar month (UTC). */
        window: 'total' | 'month';
        /** Quota units. */
        limit: number;
        /** Used by all members, those of departments below included. */
        used: number;
        /** Less the reservations of running calls. */
        remaining: number;
        /** Unix seconds; null: never. */
        resets_at: number | null;
      }[];
    }[];
  };
  'GET /api/user/groups': {
    data: {
      [k: string]: {
        /** The price factor for you; `auto`: that of the group that serves the call. */
        ratio?: number | string;
        desc?: string;
      };
    };
  };
  'POST /api/user/invitation': {
    body: {
      /** Default: `console.invitations.days` of gateway.yaml. */
      expires_days?: number;
    };
    data: {
      id: number;
      /** Returned once. */
      code: string;
      /** Unix seconds. */
      expires_at: number;
    };
  };
  'GET /api/user/invitations': {
    search: { p?: number; page_size?: number; ps?: number; size?: number };
    data: InvitationPage;
  };
  'POST /api/user/invitations': {
    body: {
      emails: string[];
      /** 1 member, 10 administrator; always below yours. */
      role?: 1 | 10;
      /** The department of the new accounts. */
      department_id?: number;
      /** Their first balance in quota units. Default: the welcome balance. */
      quota?: number;
      /** A plan that they get. */
      plan?: string;
      /** Default: `console.invitations.days` of gateway.yaml. */
      expires_days?: number;
    };
    data: Invited[];
  };
  'DELETE /api/user/invitations/{id}': { params: { id: number }; data: null };
  'POST /api/user/invitations/{id}/resend': { params: { id: number }; data: Invited };
  'GET /api/user/invoice': { search: { trade_no: string; number?: string; lang?: 'en' | 'zh' }; data: string };
  'POST /api/user/login': {
    search: { turnstile?: string };
    body: {
      /** The user name or email address. */
      username: string;
      password: string;
    };
    data: SignInResult;
  };
  'POST /api/user/login/2fa': {
    body: {
      /** A code of the authenticator, or a backup code. */
      code: string;
      /** From the first step; default: the cookie. */
      flow_token?: string;
    };
    /** The signed-in user. */
    data: SignedIn;
  };
  'GET /api/user/logout': { data: null };
  'POST /api/user/logout': { data: null };
  'POST /api/user/manage': {
    body: UserAction;
    data: {
      role: 1 | 10 | 100;
      status: 1 | 2;
      /** The new balance in quota units. */
      quota: number;
      /** Taken from the balance at once; below zero: added to it. */
      taken_quota: number;
      /** Reserved for running calls: it cannot be taken at once. */
      held_quota: number;
      /** Owed: it is paid as soon as running calls return what they do not cost, or by the next credit. */
      debt: number;
    };
  };
  'GET /api/user/models': { data: string[] };
  'GET /api/user/passkey': {
    data: {
      enabled: boolean;
      /** RFC 3339; null: never. */
      last_used_at?: string | null;
      /** RFC 3339. */
      created_at?: string;
    };
  };
  'DELETE /api/user/passkey': { data: null };
  'POST /api/user/passkey/login/begin': { data: PasskeyCeremony };
  'POST /api/user/passkey/login/finish': {
    body: PasskeyCredential;
    /** The signed-in user. */
    data: SignedIn;
  };
  'POST /api/user/passkey/register/begin': { data: PasskeyCeremony };
  'POST /api/user/passkey/register/finish': { body: PasskeyCredential; data: null };
  'POST /api/user/passkey/verify/begin': { data: PasskeyCeremony };
  'POST /api/user/passkey/verify/finish': { body: PasskeyCredential; data: Verified };
  'POST /api/user/pay': {
    body: TopUpRequest;
    /** The fields of a form to be posted to `url`. */
    data: { [k: string]: string };
  };
  'POST /api/user/register': {
    search: { turnstile?: string };
    body: {
      username: string;
      /** 8 to 256 characters; common passwords are refused. */
      password: string;
      /** Repeats the password, or omitted. */
      password2?: string;
      /** Requires `verification_code`. Omitted with an invitation that has an address: the account gets that one. */
      email?: string;
      /** The code that GET /api/verification sends. */
      verification_code?: string;
      /** An invitation: required for `registration: invite`; one with an address is always accepted. */
      invite_code?: string;
      /** Same as invite_code. */
      aff_code?: string;
    };
    data: null;
  };
  'POST /api/user/reset': {
    body: {
      /** The email address of the user; if the account has none, the user name. */
      email: string;
      token: string;
      /** 8 to 256 characters; common passwords are refused. Omitted: a random one is created and returned. */
      password?: string;
    };
    /** The created password; null if the request had one. */
    data: string | null;
  };
  'GET /api/user/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      sort?:
        | 'id'
        | '-id'
        | 'username'
        | '-username'
        | 'role'
        | '-role'
        | 'group'
        | '-group'
        | 'last_login_at'
        | '-last_login_at'
        | 'quota'
        | '-quota'
        | 'used_quota'
        | '-used_quota';
      format?: 'json' | 'csv';
      keyword?: string;
      group?: string;
      role?: 1 | 10 | 100;
      status?: 1 | 2 | -1;
      department_id?: number;
    };
    data: UserPage;
  };
  'GET /api/user/self': { data: Self };
  'PUT /api/user/self': {
    body: {
      username?: string;
      display_name?: string;
      /** The new password; empty: unchanged, otherwise 8 to 256 characters. Ends all other sessions. */
      password?: string;
      /** The current password; required to change it. */
      original_password?: string;
      /** The language of emails: Chinese if it begins with `zh`, otherwise English. */
      language?: string;
      /** JSON text of the client. */
      sidebar_modules?: string;
    };
    data: null;
  };
  'DELETE /api/user/self': { data: null };
  'GET /api/user/self/groups': {
    data: {
      [k: string]: {
        /** The price factor for you; `auto`: that of the group that serves the call. */
        ratio?: number | string;
        desc?: string;
      };
    };
  };
  'GET /api/user/sessions': { data: OwnSession[] };
  'POST /api/user/sessions/revoke-others': { data: { revoked_count: number } };
  'DELETE /api/user/sessions/{id}': { params: { id: number }; data: { revoked_sid: string; current: boolean } };
  'PUT /api/user/setting': {
    body: {
      /** How notifications are sent. */
      notify_type?: 'email' | 'webhook';
      /** Quota units; a notification is sent when the balance falls below it. Null: none is sent. */
      quota_warning_threshold?: number | null;
      /** A URL that begins with https:// or http://. Empty or null removes it. */
      webhook_url?: string | null;
      /** Signs webhook notifications. Empty: unchanged; null removes it. Never returned. */
      webhook_secret?: string | null;
      /** Used instead of the account's email address. Empty or null removes it. */
      notification_email?: string | null;
      /** Whether you get an email when budgets of your keys or your plan are nearly used; needs the plugin `alerts`. */
      budget_emails?: boolean;
      /** Whether your own log contains IP addresses. */
      record_ip_log?: boolean;
      /** The language of emails: Chinese if it begins with `zh`, otherwise English. */
      language?: string;
      /** JSON text of the client. */
      sidebar_modules?: string;
      /** Read-only: send it unchanged, or omit it. */
      bark_url?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      gotify_url?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      gotify_token?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      accept_unset_model_ratio_model?: { [k: string]: unknown };
      /** Read-only: send it unchanged, or omit it. */
      upstream_model_update_notify_enabled?: { [k: string]: unknown };
      /** Part of gotify_url; ignored without it. */
      gotify_priority?: { [k: string]: unknown };
    };
    data: null;
  };
  'GET /api/user/statement': { search: { days?: number; page_size?: number; before?: string }; data: Statement };
  'GET /api/user/statement/print': { search: { month: string; lang?: 'en' | 'zh' }; data: string };
  'POST /api/user/stripe/amount': { body: PriceRequest; data: string };
  'POST /api/user/stripe/pay': {
    body: TopUpRequest;
    data: {
      /** The payment page. */
      pay_link?: string;
      order_id: string;
    };
  };
  'GET /api/user/subscription/stats': { data: SubscriptionState };
  'GET /api/user/token': {
    /** Returned once. */
    data: string;
  };
  'DELETE /api/user/token': {
    data: {
      /** False: there was none. */
      revoked: boolean;
    };
  };
  'GET /api/user/token/status': {
    data: {
      exists: boolean;
      /** Unix seconds. */
      created_at?: number;
      /** Unix seconds. */
      expires_at?: number;
      /** Lifetime of a new token in days: `console.accessToken.days`. */
      valid_days: number;
    };
  };
  'GET /api/user/topup': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      sort?: 'id' | '-id' | 'money' | '-money' | 'status' | '-status' | 'complete_time' | '-complete_time';
      format?: 'json' | 'csv';
      keyword?: string;
      status?: 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';
      provider?: string;
      user_id?: number;
    };
    data: OrderPage;
  };
  'POST /api/user/topup': { body: { key: string }; data: number };
  'POST /api/user/topup/complete': {
    body: {
      trade_no: string;
      /** How the payment was verified, for the audit log. */
      reason?: string;
    };
    data: Order;
  };
  'GET /api/user/topup/info': { data: TopUpInfo };
  'GET /api/user/topup/invoice': { search: { trade_no: string; number?: string; lang?: 'en' | 'zh' }; data: string };
  'GET /api/user/topup/self': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      before_id?: number;
      sort?: 'id' | '-id' | 'money' | '-money' | 'status' | '-status' | 'complete_time' | '-complete_time';
      format?: 'json' | 'csv';
      keyword?: string;
      status?: 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';
      provider?: string;
    };
    data: OrderPage;
  };
  'GET /api/user/topup/status': { search: { trade_no: string }; data: Order };
  'GET /api/user/unbind/{provider}': { params: { provider: string }; data: null };
  'DELETE /api/user/unbind/{provider}': { params: { provider: string }; data: null };
  'GET /api/user/{id}': { params: { id: number }; search: { deleted?: 'also' }; data: UserDetail };
  'DELETE /api/user/{id}': { params: { id: number }; data: null };
  'DELETE /api/user/{id}/2fa': { params: { id: number }; data: null };
  'DELETE /api/user/{id}/bindings/{type}': { params: { id: number; type: string }; data: null };
  'DELETE /api/user/{id}/reset_passkey': { params: { id: number }; data: null };
  'GET /api/user/{id}/sessions': { params: { id: number }; data: UserSession[] };
  'DELETE /api/user/{id}/sessions': { params: { id: number }; data: number };
  'DELETE /api/user/{id}/sessions/{session}': { params: { id: number; session: number }; data: null };
  'GET /api/vendor/': { data: Channel[] };
  'GET /api/vendor/routes': { data: ModelRoute[] };
  'POST /api/vendor/{name}/test': {
    params: { name: string };
    body: {
      /** The public name of a model that it serves. */
      model?: string;
    };
    data: ChannelTest;
  };
  'GET /api/verification': { search: { email: string; turnstile?: string }; data: null };
  'POST /api/verify': {
    body: {
      method: '2fa' | 'passkey' | 'password';
      /** Required with `2fa`: a code of the authenticator, or a backup code. */
      code?: string;
      /** Required with `password`, for accounts without a second factor. */
      password?: string;
      /** Ignored: a verification is valid for all operations. */
      scope?: { [k: string]: unknown };
    };
    data: Verified | VerificationCeremony;
  };
  'GET /api/verify/status': {
    data: {
      verified: boolean;
      /** Unix seconds. */
      expires_at?: number;
      /** Second factors or, if the account has none, its password. Empty: it has neither. */
      methods: ('2fa' | 'passkey' | 'password')[];
    };
  };
}
export interface Alerts {
  open: OpenAlert[];
  events: AlertEvent[];
  targets: AlertTarget[];
  /** The quiet time; null: none. */
  quiet: {
    /** As configured, with its zone: `22:00-07:00 Europe/Berlin`. */
    time: string;
    now: boolean;
  } | null;
}
export interface OpenAlert {
  /** Identifies it: `budget key-day 7`, `vendor main`. */
  subject: string;
  kind: 'budget' | 'vendor' | 'price' | 'disk' | 'backup';
  /** The percentage that a budget has reached; 100 for every other kind. */
  level: number;
  title: string;
  text: string;
  /** What it says as data, for other languages: `about` (budget, credential, circuit, price, disk, backup-failed, backup-overdue) and what belongs to it. Empty for alerts of older releases. */
  facts: { [k: string]: string | number };
  /** Unix seconds. */
  since: number;
  /** Unix seconds; null: no period. */
  resets_at: number | null;
}
export interface AlertEvent {
  /** Unix seconds. */
  at: number;
  kind: 'budget' | 'vendor' | 'price' | 'disk' | 'backup';
  subject: string;
  /** The percentage that a budget has reached; 100 for every other kind. */
  level: number;
  /** The condition has ended. */
  over: boolean;
  title: string;
  text: string;
  /** What it says as data, for other languages: `about` (budget, credential, circuit, price, disk, backup-failed, backup-overdue) and what belongs to it. Empty for alerts of older releases. */
  facts: { [k: string]: string | number };
  deliveries: AlertDelivery[];
}
export interface AlertDelivery {
  /** The name of the target; `owner`: the email to the owner of the key or account. */
  target: string;
  /** `failed`: given up after several attempts. */
  state: 'waiting' | 'sent' | 'failed';
  /** Unix seconds; null: it waits. */
  ended_at: number | null;
}
export interface AlertTarget {
  name: string;
  type: 'mail' | 'webhook' | 'slack' | 'feishu' | 'dingtalk' | 'wecom';
  /** Events that wait for it. */
  waiting: number;
  /** Unix seconds; null: nothing was delivered in the last 90 days. */
  sent_at: number | null;
  /** Why the last attempt failed; null: it did not. */
  problem: string | null;
}
export interface AlertTest {
  target: string;
  /** Null: the target accepted the message. */
  problem: string | null;
}
export interface AuditEntry {
  /** Sequence number without gaps. */
  seq: number;
  /** Unix seconds. */
  created_at: number;
  actor_id: number | null;
  actor: string;
  ip: string;
  action: string;
  object: string;
  /** The current name of the user, key or department; empty if unknown. */
  object_name: string;
  /** The old and new values. */
  facts: { [k: string]: unknown };
  /** Hash of this entry and all before it. */
  hash: string;
}
export interface Configuration {
  /** Its name without the folder. */
  file: string;
  /** Number of the running configuration since the start, from 1. */
  generation: number;
  running: {
    text: string;
    /** Unix seconds. */
    loaded_at: number;
  };
  disk: {
    text: string;
    /** The file differs from the running configuration. */
    changed: boolean;
    /** Unix seconds; null if the file cannot be read. */
    modified_at: number | null;
  };
  /** Errors; if there are none, the file can be loaded. */
  problems: ConfigRemark[];
  /** Warnings: it can be loaded, but is not advisable. */
  warnings: ConfigRemark[];
  /** The output of `turnpike check` by line; empty if there are errors. */
  report: string[];
  /** store: the text is in the database (`config: store`). */
  source: 'file' | 'store';
  /** The name of the file without its folder; null if the text is in the database. */
  path: string | null;
  writable: boolean;
  /** Why it cannot be changed here; null: it can. off: `configuration.editor` is false. */
  reason: { code: 'off' | 'unwritable'; message: string } | null;
  /** The current text, which may not be loaded yet. Secrets are masked. */
  text: string;
  /** Identifies the text; for saving. */
  revision: string;
  secrets: ConfigSecret[];
  /** The variables that the text refers to. A changed text may refer to no others. */
  environment: string[];
  /** The vendors of the running plugins. */
  vendors: ConfigVendor[];
}
export interface ConfigRemark {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** `channels[0].vendor`; empty for the whole file. */
  path: string;
  message: string;
}
export interface ConfigSecret {
  name: string;
  /** Unix seconds. */
  set_at: number;
  set_by: string;
  /** Places in the text: `channels[0].key`. */
  used_in: string[];
}
export interface ConfigVendor {
  name: string;
  /** A channel needs no key. */
  keyless: boolean;
  /** A channel must have a `url`. */
  needs_url: boolean;
  styles: string[];
  /** JSON Schema of its own fields of a channel; null: none. */
  options: {} | null;
}
export interface ConfigSaved {
  revision: string;
  /** The id of the new version. */
  version: number;
  /** The number of the configuration that runs now. */
  generation: number;
}
export interface ConfigCheck {
  /** Errors; if there are none, the file can be loaded. */
  problems: ConfigRemark[];
  /** Warnings: it can be loaded, but is not advisable. */
  warnings: ConfigRemark[];
  /** The output of `turnpike check` by line; empty if there are errors. */
  report: string[];
  /** Adjacent changes with up to three unchanged lines around them; empty if the texts are equal. */
  diff: ConfigDiffHunk[];
}
export interface ConfigDiffHunk {
  lines: {
    kind: 'same' | 'added' | 'removed';
    /** Without its line break. Secrets are masked. */
    text: string;
    /** Its line number in the old text; null if it was added. */
    old: number | null;
    /** Its line number in the new text; null if it was removed. */
    new: number | null;
  }[];
}
export interface ConfigEdited {
  text: string;
  /** Errors; if there are none, the file can be loaded. */
  problems: ConfigRemark[];
  /** Warnings: it can be loaded, but is not advisable. */
  warnings: ConfigRemark[];
  /** The output of `turnpike check` by line; empty if there are errors. */
  report: string[];
  /** Adjacent changes with up to three unchanged lines around them; empty if the texts are equal. */
  diff: ConfigDiffHunk[];
}
export interface ConfigTry {
  ok: boolean;
  ms: number;
  /** Empty if only the vendor's model list was requested. */
  model: string;
  /** The vendor's HTTP status; 0: no response. */
  status: number;
  /** The result for people. */
  message: string;
}
export interface ConfigVersionPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: ConfigVersion[];
}
export interface ConfigVersion {
  id: number;
  /** Unix seconds. */
  at: number;
  /** The name of the user; null: the file was changed by hand or by another program. */
  by: string | null;
  /** Empty if there is none. */
  note: string;
  revision: string;
}
export interface ConfigVersionText {
  id: number;
  /** Unix seconds. */
  at: number;
  /** The name of the user; null: the file was changed by hand or by another program. */
  by: string | null;
  /** Empty if there is none. */
  note: string;
  revision: string;
  /** Secrets are masked. */
  text: string;
  /** From this version to the current text. */
  diff: ConfigDiffHunk[];
}
export interface HourlyUsage {
  /** 0: all users. */
  user_id: number;
  username: string;
  model_name: string;
  /** Start of the hour, Unix seconds. */
  created_at: number;
  token_used: number;
  count: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
}
export interface Department {
  id: number;
  name: string;
  parent_id: number | null;
  /** The total budget in quota units; null: no limit. */
  quota: number | null;
  /** What calls of its members cost while they were members, departments below included; with or without a budget. */
  used_quota: number;
  /** The budget of a calendar month (UTC), in quota units; null: no limit. */
  monthly_quota: number | null;
  /** Price factor of calls by its members: 1 is the full price. */
  ratio: number;
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  updated_at: number;
}
export interface DepartmentNode {
  id: number;
  name: string;
  parent_id: number | null;
  /** The total budget in quota units; null: no limit. */
  quota: number | null;
  /** What calls of its members cost while they were members, departments below included; with or without a budget. */
  used_quota: number;
  /** The budget of a calendar month (UTC), in quota units; null: no limit. */
  monthly_quota: number | null;
  /** Price factor of calls by its members: 1 is the full price. */
  ratio: number;
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  updated_at: number;
  /** What calls of its members cost in this calendar month (UTC), departments below included; with or without a budget. */
  monthly_used_quota: number;
  /** Direct members. */
  member_count: number;
  /** Its children, of the same shape. */
  children: {}[];
}
export interface User {
  id: number;
  username: string;
  display_name: string;
  /** 1 member, 10 administrator, 100 root. */
  role: 1 | 10 | 100;
  /** 1 enabled, 2 disabled. */
  status: 1 | 2;
  /** Verified; empty if there is none. */
  email: string;
  group: string;
  /** The balance in quota units; negative: owed, more than running calls hold; 0 if it is unlimited. */
  quota: number;
  used_quota: number;
  /** Reserved for running calls: what they do not cost comes back. */
  held_quota: number;
  /** Debt in quota units; calls are refused until it is paid, at first from what running calls return. */
  debt: number;
  unlimited_quota: boolean;
  remark: string;
  department_id: number | null;
  department_name: string;
  has_password: boolean;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds; 0: never. */
  last_login_at: number;
  /** When it was deleted, ISO 8601; null: it is not deleted. */
  DeletedAt: string | null;
}
export interface ImportRun {
  /** none: there was no import in the console. */
  state: 'none' | 'running' | 'done' | 'failed';
  step: 'reading' | 'checking' | 'writing' | 'configuring';
  /** Unix seconds. */
  started_at: number | null;
  program: string;
  /** Without a password. */
  source: string;
  dry_run: boolean;
  /** Why it failed. */
  reason: string | null;
  /** There are links or keys to hand out. */
  handouts: boolean;
  /** The report; null: the import has not ended. */
  report: {
    /** One line. */
    summary: string;
    /** What is known of the version of the program; null: nothing. */
    version: string | null;
    /** Recorded calls that were computed again with the imported prices; null: none were. */
    proof: {
      calls: number;
      /** Those that cost the same here. */
      equal: number;
      /** Quota units. */
      there: number;
      here: number;
      models: {
        model: string;
        group: string | null;
        calls: number;
        equal: number;
        /** Quota units. */
        there: number;
        here: number;
      }[];
      /** Why the others differ, the most frequent first. */
      causes: { cause: string; calls: number }[];
      /** The first. */
      differences: {
        id: string;
        model: string;
        /** Quota units. */
        there: number;
        here: number;
        cause: string;
      }[];
    } | null;
    /** By kind of thing. */
    counts: { kind: string; there: number; new: number; changed: number; unchanged: number; left: number }[];
    sums: {
      there: {
        /** Sum of positive balances, in quota units. */
        balances: number;
        debts: number;
        /** Sum of what keys may still spend. */
        key_limits: number;
      };
      /** Null: they were not computed. */
      here: {
        /** Sum of positive balances, in quota units. */
        balances: number;
        debts: number;
        /** Sum of what keys may still spend. */
        key_limits: number;
      } | null;
    };
    /** What needs a decision before the switch. */
    decide: ImportNotes[];
    /** What is here, but not as it was. */
    changed: ImportNotes[];
    /** What was not taken over. */
    left: ImportNotes[];
    configuration: {
      applied: boolean;
      /** The version of the configuration that was saved; null: none. */
      version: number | null;
      changes: {
        kind: string;
        name: string;
        /** differs: another value is here, and stays. */
        state: 'new' | 'changed' | 'unchanged' | 'differs';
        text: string;
      }[];
    };
    /** Imported prices that differ from list prices. */
    price_differences: { model: string; text: string }[];
  } | null;
}
export interface ImportNotes {
  /** The table or option it is about, or `gateway.yaml`. */
  where: string;
  why: string;
  /** The first 20 things. */
  what: string[];
  /** All of them, in rows or values. */
  count: number;
}
export interface LogPage {
  page: number;
  page_size: number;
  /** The number of lines (each stands for `times` requests); with `before`, of those after it. For all users (no username, no group) counting stops at 10,000. */
  total: number;
  items: LogLine[];
  /** The `before` of the next page; null: this is the last. */
  next: string | null;
}
export interface LogLine {
  /** Derived from the time: later lines have larger ids. */
  id: number;
  user_id: number;
  /** Start time, Unix seconds. */
  created_at: number;
  /** 1 top-up, 2 use, 3 managed by an administrator, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key (tokens counted, a stored response read …). */
  type: number;
  /** How many requests it stands for. Requests of one key that ended alike within a minute, before an upstream attempt, are combined; all other members are those of the first. */
  times: number;
  /** A sentence that describes the line. */
  content: string;
  username?: string;
  /** The name of the key; the last name of a deleted key. */
  token_name?: string;
  token_id?: number;
  /** The requested model. */
  model_name?: string;
  /** Cost or amount in quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Duration in seconds. */
  use_time?: number;
  is_stream?: boolean;
  /** Always 0: channels have names. */
  channel?: number;
  channel_name?: string;
  group?: string;
  /** In your own log only if the setting record_ip_log is on. */
  ip?: string;
  /** The `x-request-id` of the answer. */
  request_id: string;
  /** A JSON object as text: outcome, status, upstream attempts, milliseconds in total (duration_ms) and to the first byte (frt), the error code of a refusal, tokens read from caches (cache_tokens) and written to them. */
  other: string;
}
export interface CallContent {
  messages: ContentMessage[];
  /** How many messages before them are not stored: `prompts.maxBytes`. */
  earlier_messages: number;
  /** Definitions of tools, as JSON. */
  tools: ContentBlock[];
  /** Parameters of the request, as JSON. */
  parameters: ContentBlock | null;
  /** null: none came, or it is of a kind that is not stored (vectors, images, audio). */
  answer: {
    blocks: ContentBlock[];
    /** Why it ended; null: it broke off, or unknown. */
    finish_reason: string | null;
  } | null;
  /** The parts of the request that the messages omit, as the header `x-turnpike-translation` names them. */
  omitted: string[];
}
export interface ContentMessage {
  role: string;
  name: string | null;
  blocks: ContentBlock[];
}
export interface ContentBlock {
  type: 'text' | 'reasoning' | 'refusal' | 'tool_call' | 'tool_result' | 'media' | 'data';
  /** The text; arguments of a tool call; of media its type (`image/png`), its URL or its id; JSON. */
  text: string;
  /** Of a tool, of a file, or of the data. */
  name: string | null;
  /** The id of the tool call, or of the call that a result belongs to. */
  id: string | null;
  /** How large media is, which is not stored; null: unknown. */
  bytes: number | null;
  /** Bytes of the text that are not stored: `prompts.maxBytes`. */
  cut_bytes: number;
  /** The tool failed. */
  is_error: boolean;
}
export interface CallDetail {
  /** Derived from the time: later lines have larger ids. */
  id: number;
  user_id: number;
  /** Start time, Unix seconds. */
  created_at: number;
  /** 1 top-up, 2 use, 3 managed by an administrator, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key (tokens counted, a stored response read …). */
  type: number;
  /** How many requests it stands for. Requests of one key that ended alike within a minute, before an upstream attempt, are combined; all other members are those of the first. */
  times: number;
  /** A sentence that describes the line. */
  content: string;
  username?: string;
  /** The name of the key; the last name of a deleted key. */
  token_name?: string;
  token_id?: number;
  /** The requested model. */
  model_name?: string;
  /** Cost or amount in quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Duration in seconds. */
  use_time?: number;
  is_stream?: boolean;
  /** Always 0: channels have names. */
  channel?: number;
  channel_name?: string;
  group?: string;
  /** In your own log only if the setting record_ip_log is on. */
  ip?: string;
  /** The `x-request-id` of the answer. */
  request_id: string;
  /** A JSON object as text: outcome, status, upstream attempts, milliseconds in total (duration_ms) and to the first byte (frt), the error code of a refusal, tokens read from caches (cache_tokens) and written to them. */
  other: string;
  /** Start time, Unix milliseconds. */
  at_ms: number;
  duration_ms: number;
  /** Milliseconds from the request to the first byte of the answer. */
  first_byte_ms: number | null;
  /** Output tokens per second: of a stream from the first byte, otherwise over the whole duration. */
  tokens_per_second: number | null;
  outcome: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
  /** The HTTP status that the client got, or would have got. */
  status: number;
  /** chat, responses, messages …; for a passthrough route its path; empty for requests that are not calls. */
  style: string;
  stream: boolean;
  /** The `x-request-id` that the client sent. */
  client_request_id: string | null;
  /** Upstream attempts: channel, status, failure and duration; for administrators also the upstream model and the reason. */
  attempts: {
    /** The channel. */
    channel: string;
    /** The duration in milliseconds; null: not recorded. */
    ms: number | null;
    [k: string]: unknown;
  }[];
  /** Warnings of the translation, as in the header `x-turnpike-translation`. */
  translation: string[];
  /** Its tags: `team=a`. */
  tags: string[];
  /** Additional notes about the call. */
  notes: { [k: string]: unknown };
  /** All counts: input and output tokens, and their subsets (cache_read, reasoning …); characters, seconds, images, uses of the vendor's tools (web_search …). Empty: no usage. */
  usage: { [k: string]: number };
  /** The kind of the generated images; null: none. */
  image: { size: string; quality: string } | null;
  /** The gateway counted, because the vendor did not. */
  estimated: boolean;
  /** How the charge was computed; null: the gateway runs without billing. */
  receipt: Receipt;
  /** The ledger entries of the call, one for each bucket; empty if it cost nothing. */
  entries: LedgerEntry[];
  /** Prompt and answer are stored, and you may read them (GET /api/log/content/{request_id}). */
  has_content: boolean;
}
export interface ReceiptItem {
  bucket:
    | 'input'
    | 'cache_read'
    | 'cache_write'
    | 'cache_write_long'
    | 'input_audio'
    | 'input_image'
    | 'output'
    | 'reasoning'
    | 'output_audio'
    | 'output_image'
    | 'images'
    | 'seconds'
    | 'characters'
    | 'use'
    | 'request';
  /** For uses: the vendor's tool (`web_search`). */
  name: string | null;
  count: number;
  /** Currency units per `per` units, a decimal number. */
  price: string;
  per: 1000000 | 3600 | 1;
  unit: 'token' | 'image' | 'second' | 'character' | 'use' | 'request';
  /** Quota units before the factor, a decimal number, not rounded. */
  quota: string;
}
export interface LedgerEntry {
  op: 'debit' | 'credit' | 'refund' | 'adjust';
  kind:
    | 'account'
    | 'key'
    | 'key-day'
    | 'key-week'
    | 'key-month'
    | 'department'
    | 'department-month'
    | 'day'
    | 'week'
    | 'month'
    | 'debt';
  /** The id of the account, key or department; for day, week and month of the subscription. */
  owner_id: number;
  /** For a subscription its plan, if it is still the current one. */
  owner_name: string | null;
  /** Start of the window, Unix milliseconds; null: no window. */
  window_start_ms: number | null;
  /** The reservation in quota units; null: not recorded. */
  hold: string | null;
  /** Quota units, a decimal number. */
  amount: string;
  /** The released part of the reservation. */
  release: string | null;
  at_ms: number;
  /** The `request_id`. */
  ref: string;
  /** `call`; `recovery`: settled after a restart of the gateway. */
  actor: string;
}
export interface Latency {
  /** How many calls were examined. */
  calls: number;
  /** Start of the oldest of them, Unix seconds; 0: none. */
  since: number;
  served: number;
  failed: number;
  refused: number;
  /** The client disconnected. */
  aborted: number;
  /** Served calls: from the request to the end of the answer. */
  duration: LatencyDistribution;
  /** Served calls: from the request to the first byte of the answer. */
  first_byte: LatencyDistribution;
}
export interface LatencyDistribution {
  count: number;
  /** Null: no calls. */
  p50_ms: number | null;
  /** Null: no calls. */
  p95_ms: number | null;
  /** Null: no calls. */
  p99_ms: number | null;
  histogram: {
    /** The inclusive upper bound in milliseconds; null: none. */
    le_ms: number | null;
    /** Calls above the previous bound and up to this one. */
    count: number;
  }[];
}
export interface RunningCalls {
  /** Running calls in all gateways that answered; at most 200 are listed. */
  total: number;
  items: GatewayCall[];
}
export interface GatewayCall {
  /** Its `request_id` in the log. */
  id: string;
  /** Unix milliseconds. */
  started_at_ms: number;
  /** Running time in milliseconds. */
  ms: number;
  /** Empty until the caller is authenticated. */
  username: string;
  token_name: string;
  /** Empty for passthrough routes. */
  style: string;
  /** Empty until the request was read. */
  model: string;
  stream: boolean;
  /** The channel of the last upstream attempt; null: none yet. */
  channel: string | null;
  attempts: number;
  /** waiting: before the first upstream attempt. asking: an upstream attempt runs. answering: the client received a part of the answer. */
  phase: 'waiting' | 'asking' | 'answering';
  /** So far. */
  output_tokens: number;
  /** The gateway, `HOST:PORT`; null: there is only one on the database. */
  gateway: string | null;
}
export interface RunningCall {
  /** Its `request_id` in the log. */
  id: string;
  /** Unix milliseconds. */
  started_at_ms: number;
  /** Running time in milliseconds. */
  ms: number;
  /** Empty until the caller is authenticated. */
  username: string;
  token_name: string;
  /** Empty for passthrough routes. */
  style: string;
  /** Empty until the request was read. */
  model: string;
  stream: boolean;
  /** The channel of the last upstream attempt; null: none yet. */
  channel: string | null;
  attempts: number;
  /** waiting: before the first upstream attempt. asking: an upstream attempt runs. answering: the client received a part of the answer. */
  phase: 'waiting' | 'asking' | 'answering';
  /** So far. */
  output_tokens: number;
}
export interface UsageStatistics {
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
  /** Calls that began within the last 60 seconds and have ended, whatever the period. */
  rpm: number;
  /** The tokens of these calls. */
  tpm: number;
  /** Oldest first. */
  by_day: {
    /** UTC. */
    date: string;
    /** Calls that were served, or cost something. */
    requests: number;
    /** Calls that were refused or failed, and cost nothing. */
    errors: number;
    /** Quota units, with a fraction if there is one. */
    quota: number;
    /** The same in currency units, a decimal number. */
    cost: string;
    prompt_tokens: number;
    completion_tokens: number;
  }[];
  /** The 100 with the highest cost. */
  by_model: {
    model_name: string;
    /** Calls that were served, or cost something. */
    requests: number;
    /** Calls that were refused or failed, and cost nothing. */
    errors: number;
    /** Quota units, with a fraction if there is one. */
    quota: number;
    /** The same in currency units, a decimal number. */
    cost: string;
    prompt_tokens: number;
    completion_tokens: number;
  }[];
  /** The 100 with the highest cost. */
  by_key: {
    token_id: number;
    token_name: string;
    /** Calls that were served, or cost something. */
    requests: number;
    /** Calls that were refused or failed, and cost nothing. */
    errors: number;
    /** Quota units, with a fraction if there is one. */
    quota: number;
    /** The same in currency units, a decimal number. */
    cost: string;
    prompt_tokens: number;
    completion_tokens: number;
  }[];
}
export interface ModelCard {
  name: string;
  /** The model behind it, if this name is an alias. */
  model: string;
  /** The API styles it can be called with. */
  styles: {
    name: string;
    /** The path of the style: `/v1/chat/completions`. */
    path: string;
    /** False: calls are translated to another style. */
    native: boolean;
  }[];
  /** Its purpose; null: only its styles are known. */
  purposes: ('chat' | 'embeddings' | 'images' | 'speech' | 'transcription')[] | null;
  /** Tokens; null: unknown. */
  context_window: number | null;
  /** Tokens; null: unknown. */
  max_output: number | null;
  /** null: unknown. */
  abilities: {
    vision: boolean | null;
    tools: boolean | null;
    reasoning: boolean | null;
    structured_output: boolean | null;
    audio_input: boolean | null;
    audio_output: boolean | null;
  };
  /** Calls cost nothing. */
  free: boolean;
  /** Decimal numbers as text; missing token rates default to input or output. null: no price. */
  price: Price;
  /** degraded: some of its channels fail, or a fallback serves it. down: no channel can serve it. */
  health: 'well' | 'degraded' | 'down';
  recent: RecentAttempts;
  /** Your groups of channels that serve it, with their price factors; null: there are no groups. */
  groups:
    | {
        name: string;
        /** A decimal number; null: that of the group that serves the call. */
        factor: string | null;
      }[]
    | null;
  /** For administrators: the channels that serve it; otherwise null. */
  channels: { name: string; vendor: string; state: 'closed' | 'open' | 'half-open' }[] | null;
}
export interface RecentAttempts {
  /** Unix seconds: 24 hours ago, or the start of the process (counts are in memory). */
  since: number;
  /** Attempts, without refused requests and those whose client disconnected before the answer. */
  attempts: number;
  failures: number;
  /** From 0 to 1; null: no attempts. */
  success_share: number | null;
  /** Milliseconds, accurate to about a tenth; null: no answers. */
  p50_first_byte_ms: number | null;
  /** Milliseconds, accurate to about a tenth; null: no answers. */
  p95_first_byte_ms: number | null;
  /** Unix seconds; 0: none since the process started. */
  last_success_at: number;
}
export interface SignedIn {
  id: number;
  username: string;
  display_name: string;
  /** 1 member, 10 administrator, 100 root. */
  role: number;
  status: number;
  group: string;
}
export interface SecondStepRequired {
  require_2fa: true;
  flow_token: string;
  /** Unix seconds. */
  expires_at: number;
}
export interface Estimate {
  /** The reservation in quota units, rounded up; null: unknown, or the call would be refused. */
  at_most: number | null;
  /** at_most is an estimate that grows with the answer, because the call does not limit all of its output. */
  may_grow: boolean;
  /** Tokens, estimated from the length of the input. */
  input_estimate: number | null;
  /** Tokens; null: the call sets no limit. */
  output_limit: number | null;
  /** The whole price on one line. */
  price: string | null;
  /** Warnings of the translation for the first channel, as in `x-turnpike-translation`. */
  losses: string[];
  /** For administrators: the channels in the order of upstream attempts; otherwise null. */
  would_go_to:
    | {
        channel: string;
        /** The upstream model. */
        model: string;
        /** The API style of the channel. */
        style: string;
        state: string;
        /** False: currently skipped, because its circuit is open. */
        asked: boolean;
      }[]
    | null;
  /** The error that would refuse the call. */
  refusal: { status: number; code: string; message: string } | null;
}
export interface PricedModel {
  name: string;
  /** Its aliases. */
  aliases: string[];
  /** The models it is a fallback of. */
  fallback_of: string[];
  free: boolean;
  /** The model, or one of its fallbacks, has no price. */
  unpriced: boolean;
  /** How its calls are billed. */
  calls: 'charged' | 'free' | 'refused';
  /** The same as a sentence. */
  consequence: string;
  /** Decimal numbers as text; missing token rates default to input or output. null: no price. */
  price: Price;
  source: PriceSource;
  /** First day of the price (UTC), if it has one: `2026-01-31`. */
  effective_from: string | null;
  /** Scheduled prices, in order of their start. */
  upcoming: {
    effective_from: string;
    text: string;
    /** Decimal numbers as text; missing token rates default to input or output. null: no price. */
    price: Price;
  }[];
  /** The channels that serve it; their list prices may differ. */
  channels: {
    channel: string;
    /** The upstream model. */
    model: string;
    /** The whole price on one line; null: no price. */
    text: string | null;
    source: PriceSource;
  }[];
  /** The list price, if gateway.yaml sets another price. */
  published: { text: string; source: string } | null;
  /** Amounts that differ from the published ones by more than a tenth. */
  drift: {
    /** Its name in `price`. */
    field: string;
    configured: string;
    published: string;
    /** The difference from the published amount, in percent; null: the published amount is 0. */
    percent: number | null;
  }[];
}
export interface PriceComparison {
  /** The URL of the list. */
  source: string;
  /** Identifies the content of the list. */
  digest: string;
  /** Models that are sold come first. */
  changes: PriceChange[];
  /** Implausible changes, which are never taken over. */
  skipped: string[];
}
export interface PriceChange {
  provider: string;
  /** Its name in the list. */
  model: string;
  /** Models here that cost its list price; empty: none does. */
  names: string[];
  /** Models here that it serves at a price of gateway.yaml, which the change does not affect. */
  fixed: string[];
  /** new: it had no price. structure: amounts are added or removed. */
  kind: 'new' | 'increase' | 'decrease' | 'mixed' | 'structure';
  amounts: {
    field: string;
    old: string | null;
    new: string | null;
    /** Null: there is no ratio. */
    percent: number | null;
  }[];
}
export interface PriceUpdate {
  /** The URL of the list. */
  source: string;
  /** Identifies the content of the list. */
  digest: string;
  /** Models that are sold come first. */
  changes: PriceChange[];
  /** Implausible changes, which are never taken over. */
  skipped: string[];
  taken: {
    count: number;
    /** Unix seconds. */
    valid_from: number;
  };
}
export interface RedemptionCodePage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: RedemptionCode[];
}
export interface RedemptionCode {
  id: number;
  /** The creator. */
  user_id: number;
  /** The name of the creator. */
  username: string;
  /** The code; only its beginning without a verification (POST /api/verify) within the last five minutes. */
  key: string;
  /** 1 unused, 2 disabled, 3 used. */
  status: 1 | 2 | 3;
  name: string;
  /** Quota units. */
  quota: number;
  created_time: number;
  /** Unix seconds; 0: not used. */
  redeemed_time: number;
  /** 0: not used. */
  used_user_id: number;
  /** Empty: not used. */
  used_username: string;
  /** Unix seconds, in a request in the future; 0: never. */
  expired_time: number;
  count?: number;
}
export interface ServiceToken {
  id: number;
  name: string;
  status: 'valid' | 'expired' | 'revoked';
  /** The last four characters of its secret. */
  suffix: string;
  scopes: (
    | 'keys:read'
    | 'keys:write'
    | 'users:read'
    | 'users:write'
    | 'departments:read'
    | 'departments:write'
    | 'usage:read'
    | 'usage:write'
    | 'prompts:read'
    | 'prompts:write'
    | 'payments:read'
    | 'payments:write'
    | 'models:read'
    | 'models:write'
    | 'system:read'
    | 'system:write'
    | 'audit:read'
    | 'audit:write'
    | 'config:read'
    | 'config:write'
  )[];
  /** Addresses and networks (10.0.0.0/8) from which it is accepted; empty: any. */
  addresses: string[];
  made_by: number;
  made_by_name: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  expires_at: number;
  /** The last use, to the minute, in Unix seconds; 0: never. */
  used_at: number;
  used_ip: string;
  /** Unix seconds; 0: not. */
  revoked_at: number;
}
export interface NewServiceToken {
  id: number;
  name: string;
  status: 'valid' | 'expired' | 'revoked';
  /** The last four characters of its secret. */
  suffix: string;
  scopes: (
    | 'keys:read'
    | 'keys:write'
    | 'users:read'
    | 'users:write'
    | 'departments:read'
    | 'departments:write'
    | 'usage:read'
    | 'usage:write'
    | 'prompts:read'
    | 'prompts:write'
    | 'payments:read'
    | 'payments:write'
    | 'models:read'
    | 'models:write'
    | 'system:read'
    | 'system:write'
    | 'audit:read'
    | 'audit:write'
    | 'config:read'
    | 'config:write'
  )[];
  /** Addresses and networks (10.0.0.0/8) from which it is accepted; empty: any. */
  addresses: string[];
  made_by: number;
  made_by_name: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  expires_at: number;
  /** The last use, to the minute, in Unix seconds; 0: never. */
  used_at: number;
  used_ip: string;
  /** Unix seconds; 0: not. */
  revoked_at: number;
  /** Returned once. */
  secret: string;
}
export interface Status {
  /** Quota units in one currency unit. */
  quota_per_unit: number;
  version: string;
  system_name: string;
  /** Unix seconds. */
  start_time?: number;
  server_address: string;
  register_enabled: boolean;
  password_register_enabled?: boolean;
  invitation_required: boolean;
  email_verification: boolean;
  /** How emails are delivered: by a mail server, or only written to the log; or not at all. */
  letters: 'sent' | 'logged' | 'none';
  /** Price of one unit at the first payment provider; otherwise 1. */
  price?: number;
  /** The same at stripe, if it is configured. */
  stripe_unit_price?: number;
  /** The OAuth providers: GET /api/oauth/:name. */
  oauth_providers: { name: string; label: string }[];
  github_oauth?: boolean;
  github_client_id?: string;
  oidc_enabled?: boolean;
  /** Of the first OIDC provider. */
  oidc_client_id?: string;
  oidc_display_name?: string;
  oidc_authorization_endpoint?: '';
  passkey_login: boolean;
  passkey_display_name?: string;
  passkey_rp_id: string;
  /** Separated by commas. */
  passkey_origins: string;
  passkey_allow_insecure?: boolean;
  /** Always true. */
  password_login_enabled?: boolean;
  /** Always true. */
  setup?: boolean;
  /** Always true. */
  display_in_currency?: boolean;
  quota_display_type?: 'USD';
  usd_exchange_rate?: number;
  passkey_user_verification?: 'required';
  passkey_attachment?: '';
  /** Always false. */
  announcements_enabled?: boolean;
  /** Always false. */
  api_info_enabled?: boolean;
  chats?: unknown[];
  data_export_default_time?: 'hour';
  /** Always false. */
  checkin_enabled?: boolean;
  custom_currency_exchange_rate?: number;
  custom_currency_symbol?: '';
  /** Always false. */
  default_collapse_sidebar?: boolean;
  /** Always false. */
  default_use_auto_group?: boolean;
  /** Always false. */
  demo_site_enabled?: boolean;
  discord_client_id?: '';
  /** Always false. */
  discord_oauth?: boolean;
  docs_link?: '';
  /** Always false. */
  enable_batch_update?: boolean;
  /** Always false. */
  enable_data_export?: boolean;
  /** Always false. */
  enable_drawing?: boolean;
  /** Always false. */
  enable_task?: boolean;
  /** Always false. */
  faq_enabled?: boolean;
  footer_html?: '';
  linuxdo_client_id?: '';
  linuxdo_minimum_trust_level?: number;
  /** Always false. */
  linuxdo_oauth?: boolean;
  logo?: '';
  /** Always false. */
  mj_notify_enabled?: boolean;
  /** Always false. */
  privacy_policy_enabled?: boolean;
  /** Always false. */
  self_use_mode_enabled?: boolean;
  HeaderNavModules?: '';
  SidebarModulesAdmin?: '';
  telegram_bot_name?: '';
  /** Always false. */
  telegram_oauth?: boolean;
  theme?: 'default';
  /** Always false. */
  turnstile_check?: boolean;
  turnstile_site_key?: '';
  /** Always false. */
  uptime_kuma_enabled?: boolean;
  /** Always false. */
  user_agreement_enabled?: boolean;
  /** Always false. */
  wechat_login?: boolean;
  wechat_qrcode?: '';
}
export interface SubscriptionState {
  /** Its name; null: no subscription. */
  plan: string | null;
  /** The display name. */
  plan_name: string;
  status: 'active' | 'expired' | 'none';
  /** Unix seconds; 0: none. */
  starts_at: number;
  /** Unix seconds; 0: none. */
  expires_at: number;
  /** The windows that the plan limits, in UTC; a month is thirty days from the start. */
  windows: { [k: string]: SubscriptionWindow };
  has_subscription?: boolean;
  /** Unix seconds; 0: none. */
  start_time?: number;
  /** Unix seconds; 0: none. */
  end_time?: number;
  daily?: NamedWindow;
  weekly?: NamedWindow;
  monthly?: NamedWindow;
}
export interface SubscriptionWindow {
  /** Quota units. */
  limit: number;
  /** Quota units. */
  used: number;
  /** Quota units. */
  remaining: number;
  /** Unix seconds; 0: none. */
  resets_at: number;
}
export interface PlanOrderRequest {
  /** Its name. */
  plan: string;
  /**
   * @deprecated
   * The same as plan.
   */
  plan_id?: string;
  /** The payment method, one of `pay_methods`. */
  payment_method?: string;
  /** The page of the console to return to after payment; not for wallets. */
  success_url?: string;
  /** The page to return to without payment. */
  cancel_url?: string;
  /** Read-only: send it unchanged, or omit it. */
  price?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  money?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  quota?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  currency?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  top_up_code?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  pay_method_index?: { [k: string]: unknown };
}
export interface Order {
  id: number;
  user_id: number;
  /** Only for administrators who list orders; otherwise empty. */
  username: string;
  kind: 'quota' | 'plan';
  plan: string;
  /** Currency units bought; for a product its quota units; for a plan 0. */
  amount: number;
  /** Quota units that the order adds. */
  quota: number;
  money: number;
  money_text: string;
  currency: string;
  /** How much of it was refunded or charged back. */
  money_returned: string;
  trade_no: string;
  payment_method: string;
  payment_provider: string;
  create_time: number;
  /** 0: not paid. */
  complete_time: number;
  expire_time: number;
  status: 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';
  note: string;
}
export interface Plan {
  /** Its name. */
  id: string;
  title: string;
  /** Currency units; null: not for sale. */
  price_amount: number | null;
  duration_unit?: 'day';
  duration_value: number;
  /** Always true. */
  enabled?: boolean;
  /** Quota units; null: no limit. */
  daily_amount: number | null;
  /** Quota units; null: no limit. */
  weekly_amount: number | null;
  /** Quota units; null: no limit. */
  monthly_amount: number | null;
  /** Balance that is credited with it, in quota units. */
  balance_amount: number;
  /** Calls within the windows are not charged to the balance. */
  includes_balance: boolean;
}
export interface Subscription {
  id?: number;
  user_id?: number;
  plan_id?: string;
  /** The monthly limit in quota units; 0: no limit. */
  amount_total?: number;
  /** Quota units. */
  amount_used?: number;
  /** Unix seconds; 0: none. */
  start_time?: number;
  /** Unix seconds; 0: none. */
  end_time?: number;
  /** Unix seconds; 0: none. */
  next_reset_time?: number;
  status?: 'active' | 'expired';
}
export interface Vitals {
  version: string;
  node: string;
  /** `linux x64` */
  platform: string;
  /** Unix seconds. */
  started_at: number;
  /** Seconds. */
  uptime: number;
  memory: {
    /** Resident memory of the process, in bytes. */
    rss: number;
    /** Bytes. */
    heap_used: number;
    /** Bytes. */
    heap_total: number;
    /** Maximum heap size in bytes. */
    heap_limit: number;
    /** Bytes. */
    external: number;
    /** Memory of the machine, or of the container if it has less, in bytes. */
    machine: number;
  };
  cpu: {
    /** CPU seconds in user mode since the start. */
    user: number;
    /** CPU seconds in the kernel. */
    system: number;
    cores: number;
    /** Load average over 1, 5 and 15 minutes. */
    load: number[];
  };
  /** Event loop delay over the last minute; null in the first ten seconds. */
  lag: {
    /** Milliseconds. */
    mean_ms: number;
    /** Milliseconds. */
    p50_ms: number;
    /** Of the worst ten seconds, in milliseconds. */
    p99_ms: number;
    /** Milliseconds. */
    max_ms: number;
  } | null;
  /** Running calls in all gateways that responded. */
  in_flight: number;
  configuration: {
    /** Number of the running configuration since the start, from 1. */
    generation: number;
    /** Unix seconds. */
    loaded_at: number;
    /** Other gateways on the same database with a different gateway.yaml: their `HOST:PORT`. */
    differing: string[];
  };
  /** Retention by section of gateway.yaml: `{"log": "90d"}`. */
  keeps: { [k: string]: string };
  store: {
    /** Its file name without the folder. */
    name: string;
    /** The version of its schema: the number of migrations that have run. */
    schema: number;
    /** Lists that wait to be written. */
    waiting: number;
    /** False: currently not writable. */
    writable: boolean;
    /** False while the disk is nearly full: calls are served, but responses are not stored. */
    keeps_responses: boolean;
    /** Size of the database file. Null, like the next three members, if the store does not report it. */
    bytes: number | null;
    /** Size of the write-ahead log. */
    log_bytes: number | null;
    /** Free bytes on its disk. */
    disk_free: number | null;
    /** Size of its disk in bytes. */
    disk_total: number | null;
  };
  /** The last backup, scheduled or by `turnpike backup`; null: none. */
  backup: {
    /** Unix seconds. */
    at: number;
    /** Its file name without the folder. */
    name: string;
    /** Null if the file cannot be read. */
    bytes: number | null;
    /** Duration in milliseconds. */
    ms: number;
  } | null;
  /** Scheduled backups; null: none are configured (`backup:` in gateway.yaml). */
  backups: {
    /** Their interval in seconds. */
    every: number;
    /** The folder, or bucket and prefix. */
    to: string;
    /** Which backups are kept. */
    keep: {
      /** The newest. */
      last: number;
      /** The newest of each of this many days. */
      daily: number;
      /** The newest of each of this many weeks. */
      weekly: number;
    };
    encrypted: boolean;
    /** One is running in this gateway. */
    running: boolean;
    /** The last that was restored, migrated and reconciled; null: none. */
    proven: {
      /** Unix seconds. */
      at: number;
      name: string;
      /** Its size. */
      bytes: number | null;
      /** Duration of backup and proof in milliseconds. */
      ms: number;
    } | null;
    /** The last failure since; null: none. */
    failed: {
      /** Unix seconds. */
      at: number;
      /** The stored copy whose proof failed; empty: none was stored. */
      name: string;
      reason: string;
    } | null;
    /** The latest, at most 20, newest first. */
    runs: {
      /** Unix seconds. */
      at: number;
      /** Empty: nothing was stored. */
      name: string;
      /** Its size; null: nothing was stored. */
      bytes: number | null;
      /** Duration of backup and proof in milliseconds. */
      ms: number;
      /** Why it or its proof failed; null: it was proven. */
      reason: string | null;
      /** The invariants that its restored copy fulfills; null: the proof failed. */
      invariants: number | null;
      /** Migrations of its restored copy. */
      migrations: number | null;
    }[];
  } | null;
  /** The address of a proxy that is missing in `listen.trustProxy`, so that all users share its address. Null: none. */
  untrusted_proxy: string | null;
  /** All gateways on the same database, by name. */
  gateways: Gateway[];
}
export interface Gateway {
  /** `HOST:PORT` */
  name: string;
  version: string;
  /** Unix seconds. */
  started_at: number;
  /** True for the gateway that answers this request. */
  self: boolean;
  /** Its report; null: it did not respond within a second. */
  report: {
    /** As in `/readyz`: `ready` takes calls; `busy`: the database is slow or not writable. */
    readiness: 'starting' | 'ready' | 'busy' | 'draining';
    /** Digest of its gateway.yaml, to compare gateways. */
    configuration: string;
    memory: {
      /** Bytes. */
      rss: number;
      /** Bytes. */
      heap_used: number;
      /** Bytes. */
      heap_limit: number;
      /** Bytes. */
      machine: number;
    };
    /** Event loop delay over the last minute; null in the first ten seconds. */
    lag: {
      /** Milliseconds. */
      mean_ms: number;
      /** Milliseconds. */
      p50_ms: number;
      /** Of the worst ten seconds, in milliseconds. */
      p99_ms: number;
      /** Milliseconds. */
      max_ms: number;
    } | null;
    /** Running calls. */
    in_flight: number;
    /** Calls that began within the last five minutes. */
    calls: number;
    store: {
      /** Lists that wait to be written. */
      waiting: number;
      /** False: currently not writable. */
      writable: boolean;
    };
    /** The rate-limit counters; null: the plugin `counters` is not used. */
    counters: {
      /** `memory` or `valkey`. */
      driver: string;
      /** Whether the shared server is reachable; if not, each gateway enforces its share of the limits. Null: not shared. */
      shared: boolean | null;
    } | null;
  } | null;
}
export interface Diagnosis {
  /** What was examined: `clock`, `channel main`. */
  topic: string;
  /** problem: it does not work, or will soon not. warning: it works, but is not advisable. */
  level: 'ok' | 'warning' | 'problem';
  text: string;
  /** What to do; null: nothing. */
  advice: string | null;
}
export interface VitalsSample {
  /** Unix seconds. */
  at: number;
  /** Bytes. */
  rss: number;
  /** Bytes. */
  heap_used: number;
  /** CPU seconds per second: 1 is one core. */
  cpu: number;
  /** p99 of the event loop delay, in milliseconds. */
  lag_ms: number;
  in_flight: number;
  /** Lists that waited to be written. */
  waiting: number;
}
export interface DepartmentBudget {
  department_id: number;
  name: string;
  /** The parent department. */
  parent_id: number | null;
  period: 'total' | 'month';
  /** Unix seconds. */
  period_start: number | null;
  /** Unix seconds. */
  period_end: number | null;
  /** Quota units, with a fraction if there is one; null: no limit. */
  budget: number | null;
  /** Used of the budget, departments below included; quota units. */
  used: number;
  /** Less the reservations of running calls; quota units. */
  remaining: number | null;
  /** Used percentage of the budget. */
  percentage: number | null;
  /** Spent in the requested period; quota units. */
  spent: number;
}
export interface UsageTrendItem {
  /** `2026-09-20`, or `2026-09-20T13:00:00Z`; UTC. */
  date: string;
  /** Start of the day or hour, Unix seconds. */
  timestamp: number;
  /** The id of the department, user or key, or the name of the model; null: the rest. */
  group: string | null;
  name: string;
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
}
export interface Forecast {
  /** Unix seconds. */
  month_start: number;
  /** Unix seconds. */
  month_end: number;
  /** How the forecast is computed. */
  method: string;
  total: Spending;
  departments: {
    department_id: number;
    name: string;
    parent_id: number | null;
    /** Spent in this calendar month (UTC), in quota units. */
    spent: number;
    /** Quota units per day: the mean of the last 7 whole days, or of all since the first call if they are fewer. */
    daily_mean_7: number;
    /** Quota units per day: the mean of the last 28 whole days, or of all since the first call if they are fewer. */
    daily_mean_28: number;
    /** Forecast for the whole month, in quota units. */
    projected: number;
    /** low: there were calls on fewer than 7 of the last 28 whole days. */
    confidence: 'usual' | 'low';
    budgets: BudgetForecast[];
  }[];
}
export interface Spending {
  /** Spent in this calendar month (UTC), in quota units. */
  spent: number;
  /** Quota units per day: the mean of the last 7 whole days, or of all since the first call if they are fewer. */
  daily_mean_7: number;
  /** Quota units per day: the mean of the last 28 whole days, or of all since the first call if they are fewer. */
  daily_mean_28: number;
  /** Forecast for the whole month, in quota units. */
  projected: number;
  /** low: there were calls on fewer than 7 of the last 28 whole days. */
  confidence: 'usual' | 'low';
}
export interface BudgetForecast {
  period: 'total' | 'month';
  /** Quota units. */
  budget: number;
  used: number;
  remaining: number;
  /** The day (UTC) on which the budget is used up at the mean of seven days; null: it lasts (a monthly budget: until the end of the month). */
  used_up_on: string | null;
}
export interface MemberUsage {
  user_id: number;
  username: string;
  display_name: string;
  /** The current department. */
  department_id: number | null;
  department: string;
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
}
export interface ModelUsage {
  /** Empty: calls that were refused before a channel was chosen. */
  model: string;
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
}
export interface UsageSums {
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
}
export interface KeyPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: Key[];
}
export interface Key {
  id: number;
  user_id: number;
  name: string;
  /** Its first and last four characters; complete only in the response that creates it. */
  key: string;
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: 1 | 2 | 3 | 4;
  /** Unix seconds. */
  created_time: number;
  /** The last call with it, to the minute, Unix seconds; 0: never. */
  accessed_time: number;
  /** Unix seconds; -1: never. */
  expired_time: number;
  /** The remaining amount, in quota units; 0 if it is unlimited. */
  remain_quota: number;
  used_quota: number;
  /** Reserved for running calls: what they do not cost can be spent again. */
  held_quota: number;
  /** Limited only by the user's balance. */
  unlimited_quota: boolean;
  model_limits_enabled: boolean;
  /** The models it may call, separated by commas; empty: all. */
  model_limits: string;
  /** Allowed addresses and networks, one per line; empty: all. */
  allow_ips: string;
  /** The group of channels that it uses; empty: that of its user. */
  group: string;
  /** Translations that would change the answer are refused. */
  strict: boolean;
  /** Its own limits, in addition to those of all keys. */
  limits: KeyLimit[];
}
export interface KeyLimit {
  /** A model, or a pattern such as `gpt-*`, whose models share the limits; empty: all calls of the key. */
  model: string;
  /** Requests within any minute; null: no such limit. */
  requests_per_minute: number | null;
  /** Input and output tokens within any minute; null: no such limit. */
  tokens_per_minute: number | null;
  /** Concurrent calls; null: no such limit. */
  concurrent: number | null;
  /** Quota units that may be spent in each day (UTC); null: no such limit. */
  daily_budget: number | null;
  /** Quota units that may be spent in each week from Monday (UTC); null: no such limit. */
  weekly_budget: number | null;
  /** Quota units that may be spent in each calendar month (UTC); null: no such limit. */
  monthly_budget: number | null;
}
export interface KeyUsage {
  token_id: number;
  name: string;
  /** Quota units, with a fraction if there is one. */
  quota: number[];
  /** Calls that were served, or cost something. */
  calls: number[];
  /** Calls that were refused or failed, and cost nothing. */
  errors: number[];
  /** To the minute, Unix seconds; null: never. */
  last_used_at: number | null;
}
export interface OwnedKeyPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: OwnedKey[];
}
export interface OwnedKey {
  id: number;
  user_id: number;
  name: string;
  /** Its first and last four characters; complete only in the response that creates it. */
  key: string;
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: 1 | 2 | 3 | 4;
  /** Unix seconds. */
  created_time: number;
  /** The last call with it, to the minute, Unix seconds; 0: never. */
  accessed_time: number;
  /** Unix seconds; -1: never. */
  expired_time: number;
  /** The remaining amount, in quota units; 0 if it is unlimited. */
  remain_quota: number;
  used_quota: number;
  /** Reserved for running calls: what they do not cost can be spent again. */
  held_quota: number;
  /** Limited only by the user's balance. */
  unlimited_quota: boolean;
  model_limits_enabled: boolean;
  /** The models it may call, separated by commas; empty: all. */
  model_limits: string;
  /** Allowed addresses and networks, one per line; empty: all. */
  allow_ips: string;
  /** The group of channels that it uses; empty: that of its user. */
  group: string;
  /** Translations that would change the answer are refused. */
  strict: boolean;
  /** Its own limits, in addition to those of all keys. */
  limits: KeyLimit[];
  username: string;
}
export interface KeyLimitUsage {
  /** Empty: all calls of the key. */
  model: string;
  /** The member of the limit. */
  kind:
    | 'requests_per_minute'
    | 'tokens_per_minute'
    | 'concurrent'
    | 'daily_budget'
    | 'weekly_budget'
    | 'monthly_budget';
  limit: number;
  /** Within the last minute, running, or spent and reserved in the period. */
  used: number;
  /** When the period of a budget ends, Unix seconds; 0 for rates. */
  resets_at: number;
}
export interface UsageGroup {
  /** The id of the department, user or key, or the name of the model or channel. */
  group: string;
  name: string;
  /** Calls that were served, or cost something. */
  requests: number;
  /** Calls that were refused or failed, and cost nothing. */
  errors: number;
  /** Quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost: string;
  prompt_tokens: number;
  completion_tokens: number;
}
export interface UserPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: User[];
}
export interface PriceRequest {
  /** Currency units. */
  amount: number;
  /** The payment method, one of `pay_methods`. */
  payment_method?: string;
  /** Read-only: send it unchanged, or omit it. */
  price?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  money?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  quota?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  currency?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  top_up_code?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  pay_method_index?: { [k: string]: unknown };
}
export interface TopUpRequest {
  /** Currency units. */
  amount: number;
  /** The payment method, one of `pay_methods`. */
  payment_method?: string;
  /** The page of the console to return to after payment; not for wallets. */
  success_url?: string;
  /** The page to return to without payment. */
  cancel_url?: string;
  /** Read-only: send it unchanged, or omit it. */
  price?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  money?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  quota?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  currency?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  top_up_code?: { [k: string]: unknown };
  /** Read-only: send it unchanged, or omit it. */
  pay_method_index?: { [k: string]: unknown };
}
export interface InvitationPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: Invitation[];
}
export interface Invitation {
  id: number;
  status: 'open' | 'used' | 'expired' | 'revoked';
  made_by: number;
  made_by_name: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  expires_at: number;
  /** The address of the invited user; empty: a code for any visitor. */
  email: string;
  /** The role of the new account: 1 member, 10 administrator. */
  role: 1 | 10;
  /** The department of the new account; 0: none. */
  department_id: number;
  department_name: string;
  /** Its first balance, quota units; null: the welcome balance. */
  quota: number | null;
  /** The plan that it gets; empty: none. */
  plan: string;
  /** When the mail server accepted the email. Unix seconds; 0: not. */
  sent_at: number;
  /** The account that was created with it; 0: none. */
  used_by: number;
  used_by_name: string;
  /** Unix seconds; 0: not. */
  used_at: number;
  /** Unix seconds; 0: not. */
  revoked_at: number;
}
export interface Invited {
  email: string;
  /** `email`: an email is on its way. `link`: no mail server is configured; pass `link` on yourself. `exists`: an account has this address, and nothing was done. */
  outcome: 'email' | 'link' | 'exists';
  /** The invitation; 0 if an account exists. */
  id: number;
  /** Returned once, and only if no mail server is configured. */
  link: string;
  /** Unix seconds; 0 if an account exists. */
  expires_at: number;
}
export interface UserAction {
  id: number;
  /** `delete`, roles and quota require a verification (POST /api/verify); only root changes roles. */
  action: 'enable' | 'disable' | 'delete' | 'promote' | 'demote' | 'add_quota';
  /** Required for add_quota: quota units; 0 only to override. */
  value?: number;
  /** For add_quota: add to the balance, subtract (never below zero), or override it. Default: add. What running calls hold cannot be taken at once: it is owed, and paid when they end. */
  mode?: 'add' | 'subtract' | 'override';
  /** The reason, for the audit log. */
  reason?: string;
}
export interface PasskeyCeremony {
  /** The WebAuthn public key options as JSON, also in `publicKey` for clients that read them there. */
  options: { publicKey: {}; [k: string]: unknown };
  /** To be sent with the credential; default: the cookie. */
  flow_token: string;
  /** Unix seconds. */
  expires_at: number;
}
export interface PasskeyCredential {
  /** From `begin`; default: the cookie. */
  flow_token?: string;
  /** The browser's result as JSON; its members may also be at the top level. */
  credential: {};
  id?: string;
  rawId?: string;
  type?: string;
  response?: {};
  /**
   * @deprecated
   * Ignored.
   */
  authenticatorAttachment?: { [k: string]: unknown };
  /**
   * @deprecated
   * Ignored.
   */
  clientExtensionResults?: { [k: string]: unknown };
}
export interface Verified {
  verified: true;
  /** Unix seconds. */
  expires_at: number;
  method: '2fa' | 'passkey' | 'password';
}
export interface Self {
  id: number;
  username: string;
  display_name: string;
  /** 1 member, 10 administrator, 100 root. */
  role: number;
  /** 1 enabled. */
  status: number;
  /** Empty if none is verified. */
  email: string;
  github_id?: string;
  oidc_id?: string;
  /** The linked OAuth accounts: their names by provider. */
  bindings?: { [k: string]: string };
  has_password?: boolean;
  group: string;
  /** The balance in quota units; negative: owed, more than running calls hold; 0 if it is unlimited. */
  quota: number;
  used_quota: number;
  /** Reserved for running calls: what they do not cost comes back. */
  held_quota?: number;
  /** Debt in quota units; calls are refused until it is paid. */
  debt?: number;
  /** All calls so far, refused ones included. */
  request_count?: number;
  unlimited_quota?: boolean;
  /** The settings that PUT /api/user/setting stores, as JSON text without secrets. */
  setting: string;
  sidebar_modules?: string;
  permissions?: {};
  aff_code?: '';
  aff_count?: number;
  aff_history_quota?: number;
  aff_quota?: number;
  discord_id?: '';
  inviter_id?: number;
  linux_do_id?: '';
  stripe_customer?: '';
  telegram_id?: '';
  wechat_id?: '';
}
export interface OwnSession {
  sid: string;
  /** This session. */
  current: boolean;
  /** `password`, `passkey`, or the name of an OAuth provider. */
  login_method: string;
  ip: string;
  user_agent: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds, to the minute. */
  last_active_at: number;
  /** Unix seconds. */
  expires_at: number;
}
export interface Statement {
  /** The account has no limit; the balances are what its movements add up to. */
  unlimited: boolean;
  /** Current balance in quota units, a decimal number; today's closing balance. */
  balance: string;
  /** The part reserved by running calls. */
  held: string;
  /** Debt from refunded or charged-back payments; it is paid from later credits. */
  debt: string;
  /** Oldest first; quota units, rounded down, and exact. A call counts on the day on which it began. Usage included in subscriptions is left out; for calls recorded by older releases this is unknown, so opening balances of their days may be too high. */
  days: {
    date: string;
    opening: number;
    credits: number;
    /** The cost of calls, and other debits. */
    debits: number;
    /** Debits because a payment was refunded or charged back. */
    refunds: number;
    closing: number;
    requests: number;
    exact: {
      opening: string;
      credits: string;
      debits: string;
      /** The part of the debits that calls cost. */
      calls: string;
      refunds: string;
      closing: string;
    };
  }[];
  /** Other transactions than calls, newest first. */
  events: {
    /** Unix seconds. */
    at: number;
    /** The kind of the log line. */
    kind: 'top-up' | 'manage' | 'system' | 'refund';
    side: 'credit' | 'debit' | 'refund';
    /** Quota units; negative for debits. */
    amount: number;
    /** The same as a decimal number. */
    exact: string;
    /** A payment provider, `redemption code`, `administrator`, `system`. */
    by: string;
    /** Reference: `top-up:` and the order number. */
    ref: string;
  }[];
  /** The `before` of the next page; null: this is the last. */
  next: string | null;
}
export interface OrderPage {
  /** The page, from 1. */
  page: number;
  /** The maximum number of items of a page. */
  page_size: number;
  /** The number of items of all pages. */
  total: number;
  items: Order[];
}
export interface TopUpInfo {
  /** POST /api/user/pay */
  enable_online_topup: boolean;
  enable_stripe_topup: boolean;
  enable_creem_topup: boolean;
  enable_alipay_topup: boolean;
  /** Always false. */
  enable_waffo_topup?: boolean;
  /** Always false. */
  enable_waffo_pancake_topup?: boolean;
  enable_redemption: boolean;
  /** Always true. */
  payment_compliance_confirmed?: boolean;
  payment_compliance_terms_version?: string;
  pay_methods: { name: string; type: string; provider: string; color?: string; min_topup?: string }[];
  waffo_pay_methods?: unknown[];
  /** JSON: [{productId, name, price, currency, quota}] */
  creem_products: string;
  /** Price of one unit by provider. */
  prices: { [k: string]: { price: string; currency: string } };
  /** Prices of the plans for sale, by plan and provider. */
  plan_prices: { [k: string]: { [k: string]: { price: string; currency: string } } };
  min_topup: number;
  max_topup: number;
  stripe_min_topup?: number;
  alipay_min_topup?: number;
  waffo_min_topup?: number;
  waffo_pancake_min_topup?: number;
  amount_options: number[];
  discount?: {};
  topup_link?: string;
}
export interface UserDetail {
  id: number;
  username: string;
  display_name: string;
  /** 1 member, 10 administrator, 100 root. */
  role: 1 | 10 | 100;
  /** 1 enabled, 2 disabled. */
  status: 1 | 2;
  /** Verified; empty if there is none. */
  email: string;
  group: string;
  /** The balance in quota units; negative: owed, more than running calls hold; 0 if it is unlimited. */
  quota: number;
  used_quota: number;
  /** Reserved for running calls: what they do not cost comes back. */
  held_quota: number;
  /** Debt in quota units; calls are refused until it is paid, at first from what running calls return. */
  debt: number;
  unlimited_quota: boolean;
  remark: string;
  department_id: number | null;
  department_name: string;
  has_password: boolean;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds; 0: never. */
  last_login_at: number;
  /** When it was deleted, ISO 8601; null: it is not deleted. */
  DeletedAt: string | null;
  two_factor: boolean;
  passkey: boolean;
  /** The linked OAuth providers. */
  bindings: string[];
}
export interface UserSession {
  id: number;
  /** `password`, `passkey`, or the name of an OAuth provider. */
  login_method: string;
  ip: string;
  user_agent: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds, to the minute. */
  last_active_at: number;
  /** Unix seconds. */
  expires_at: number;
}
export interface Channel {
  name: string;
  vendor: string;
  /** False: its key is empty. */
  on: boolean;
  weight: number;
  priority: number;
  /** closed: calls are sent to it. open: no calls until the pause is over. half-open: the next call decides. */
  state: 'closed' | 'open' | 'half-open';
  /** Unix seconds; 0 unless the circuit is open. */
  open_until: number;
  last_failure: {
    kind: string;
    /** The vendor's HTTP status; 0: no response. */
    status: number;
    /** Unix seconds. */
    at: number;
    /** The meaning of the status. */
    message: string;
  } | null;
  recent: RecentAttempts;
  /** Its keys that are not empty, without the keys themselves. */
  keys: {
    /** Its position in gateway.yaml, from 1. */
    number: number;
    /** paused: the vendor has limited it. refused: the vendor does not accept it. */
    state: 'available' | 'paused' | 'refused';
    /** End of the pause, Unix seconds; 0 if it is available. */
    until: number;
  }[];
  models: {
    name: string;
    /** The upstream model. */
    model: string;
    /** closed: calls are sent to it. open: no calls until the pause is over. half-open: the next call decides. */
    state: 'closed' | 'open' | 'half-open';
    /** Consecutive failures. */
    failures: number;
  }[];
}
export interface ModelRoute {
  /** The public name. */
  name: string;
  /** The model behind it, if this name is an alias. */
  model: string;
  free: boolean;
  channels: { channel: string; model: string; priority: number; weight: number }[];
  fallback: string[];
  /** Decimal numbers as text; missing token rates default to input or output. null: no price. */
  price: Price;
}
export interface ChannelTest {
  success: boolean;
  /** The tested model; empty if only the vendor's model list was requested. */
  model: string;
  /** The vendor's HTTP status; 0: no response. */
  status: number;
  latency_ms: number;
  message: string;
}
export interface VerificationCeremony {
  /** Always false. */
  verified?: boolean;
  /** The WebAuthn public key options as JSON, also in `publicKey` for clients that read them there. */
  options: { publicKey: {}; [k: string]: unknown };
  /** To be sent with the credential; default: the cookie. */
  flow_token: string;
  /** Unix seconds. */
  expires_at: number;
}
