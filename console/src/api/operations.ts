/** What `/api` takes and answers, by method and path. Made by `npm run api-types`: change the schemas of the routes. */
// biome-ignore-all lint: made by a script
export type Receipt = {
  /** The charge is told to the last place. False: too little was written down, and `reason` says why. */
  exact: boolean;
  /** What was charged for; every token is in one item. */
  items: ReceiptItem[];
  /** What part of the price the department pays, a decimal number. */
  factor: string;
  /** Quota units in a currency unit at that time; null: nothing was priced. */
  quota_per_unit: number | null;
  /** How the items become the total, for people. */
  rounding: string;
  /** Quota units, a decimal number. */
  total: string;
  /** What was set aside for it in the end; null: that was not written down. */
  held: string | null;
  /** Quota units, a decimal number. */
  charged: string;
  /** hold: no more than that was set aside, nor could be. delivery: the answer broke off, and what had gone out was charged. */
  capped_by: 'hold' | 'delivery' | null;
  /** Why nothing was charged, or (recovered: the gateway stopped during the call; not_noted: an older release) why it cannot be retold. */
  reason: 'refused' | 'failed' | 'unused' | 'free' | 'unpriced' | 'recovered' | 'not_noted' | null;
  /** A subscription included it: the balance paid nothing. */
  included: boolean;
} | null;
export type Price = {
  free: boolean;
  /** All of it on one line. */
  text: string;
  /** Currency units per million tokens of input. */
  input?: string;
  /** Currency units per million tokens of input that is read from a cache. */
  cacheRead?: string;
  /** Currency units per million tokens of input that is written to a cache. */
  cacheWrite?: string;
  /** Currency units per million tokens of input that is written to a cache for an hour. */
  cacheWriteLong?: string;
  /** Currency units per million tokens of audio input. */
  inputAudio?: string;
  /** Currency units per million tokens of image input. */
  inputImage?: string;
  /** Currency units per million tokens of output. */
  output?: string;
  /** Currency units per million tokens of reasoning. */
  reasoning?: string;
  /** Currency units per million tokens of audio output. */
  outputAudio?: string;
  /** Currency units per million tokens of image output. */
  outputImage?: string;
  /** Currency units per image of an unknown kind. */
  perImage?: string;
  /** Currency units per million characters of speech. */
  characters?: string;
  /** Currency units per hour of audio input. */
  perHour?: string;
  /** Currency units per call, in addition to everything else. */
  perRequest?: string;
} | null;
export type PriceSource = {
  /** model: `price` of its entry in gateway.yaml. prices: the section `prices` of it. published: a list price that came with this gateway. */
  kind: 'model' | 'prices' | 'published';
  /** For people: who says so. */
  text: string;
} | null;
export type NamedWindow = {
  /** In quota units. */
  limit?: number;
  /** In quota units. */
  used?: number;
  /** In quota units. */
  remaining?: number;
  /** Unix seconds; 0: none. */
  reset_at?: number;
} | null;
export type SignInResult = SignedIn | SecondStepRequired;

export interface Operations {
  'GET /api/about': { data: '' };
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
      /** All entries, whatever was asked for. */
      total: number;
      /** Where the next page begins; null: there is none. */
      before: number | null;
    };
  };
  'GET /api/audit/chain': {
    search: { after?: number };
    data: {
      /** The last entry that was checked now; `total`: that was all. */
      checked: number;
      total: number;
      /** The end of the chain, as `turnpike audit verify --head` takes it. */
      head: string;
      /** The first entry that does not fit; null: all do. */
      broken: { seq: number; why: string } | null;
    };
  };
  'GET /api/audit/export': {
    search: { before?: number; actor?: string; action?: string; start_timestamp?: number; end_timestamp?: number };
    data: string;
  };
  'GET /api/config': { data: Configuration };
  'POST /api/config/check': {
    body: {
      /** At most 256 KiB. */
      text: string;
    };
    data: ConfigCheck;
  };
  'POST /api/config/reload': {
    data: {
      generation: number;
      /** Unix seconds. */
      loaded_at: number;
    };
  };
  'GET /api/config/schema': { data: {} };
  'GET /api/data/': {
    search: { start_timestamp?: number; end_timestamp?: number; username?: string };
    data: HourlyUsage[];
  };
  'GET /api/data/self': { search: { start_timestamp?: number; end_timestamp?: number }; data: HourlyUsage[] };
  'GET /api/department/': {
    search: { p?: number; page_size?: number; ps?: number; size?: number; keyword?: string; parent_id?: number };
    data: Department[];
  };
  'POST /api/department/': {
    body: {
      name: string;
      /** The department above; null or 0: none. */
      parent_id?: number | null;
      /** The budget in all, in quota units, those below included; null: no limit. */
      quota?: number | null;
      /** The same for a calendar month (UTC). */
      monthly_quota?: number | null;
      /** What calls of its people cost: 1 is the price. Six decimals at most. */
      ratio?: number;
      /** 1 enabled, 0 disabled. */
      status?: 0 | 1;
    };
    data: Department;
  };
  'GET /api/department/names': { data: { id: number; name: string; parent_id: number | null }[] };
  'GET /api/department/tree': { data: DepartmentNode[] };
  'GET /api/department/{id}': { params: { id: string }; data: Department };
  'PUT /api/department/{id}': {
    params: { id: string };
    body: {
      name?: string;
      /** The department above; null or 0: none. */
      parent_id?: number | null;
      /** The budget in all, in quota units, those below included; null: no limit. */
      quota?: number | null;
      /** The same for a calendar month (UTC). */
      monthly_quota?: number | null;
      /** What calls of its people cost: 1 is the price. Six decimals at most. */
      ratio?: number;
      /** 1 enabled, 0 disabled. */
      status?: 0 | 1;
    };
    data: Department;
  };
  'DELETE /api/department/{id}': { params: { id: string }; data: null };
  'GET /api/department/{id}/members': {
    params: { id: string };
    search: { p?: number; page_size?: number; ps?: number; size?: number };
    data: User[];
  };
  'POST /api/department/{id}/members': {
    params: { id: string };
    body: {
      /** Accounts with a role below your own. */
      user_ids: number[];
    };
    data: number;
  };
  'DELETE /api/department/{id}/members/{user_id}': { params: { id: string; user_id: string }; data: null };
  'POST /api/department/{id}/recharge': {
    params: { id: string };
    body: {
      /** In quota units. */
      amount: number;
    };
    data: Department;
  };
  'GET /api/department/{id}/usage': {
    params: { id: string };
    data: {
      department: Department;
      /** The budget in all; null: no limit. */
      tree_quota: number | null;
      /** Those below included. */
      tree_used_quota: number;
      /** Less what running calls hold. */
      remaining_quota: number | null;
      descendant_count: number;
      /** This calendar month (UTC); null where it has no budget. */
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
      /** How many run, in all gateways that answer; at most 200 are in the list. */
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
      username?: string;
    };
    data: UsageStatistics;
  };
  'GET /api/log/token': { data: LogLine[] };
  'GET /api/models/catalog': { data: ModelCard[] };
  'GET /api/notice': { data: '' };
  'GET /api/oauth/email/bind': { search: { email: string; code: string }; data: null };
  'POST /api/oauth/email/bind': {
    body: {
      email: string;
      /** As the letter has it. */
      code: string;
    };
    data: null;
  };
  'GET /api/oauth/state': { search: { provider?: string }; data: string };
  'POST /api/oauth/state': {
    body: {
      /** The word in its paths: `github`. */
      provider?: string;
      intent?: 'login' | 'bind';
      /** Not used. */
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
  'GET /api/openapi.json': { data: {} };
  'POST /api/playground/estimate': {
    body: {
      /** One of the own keys. */
      token_id: number;
      /** One that a model answers on: `chat`. */
      style: string;
      /** The call, as it would be sent. */
      body: {};
    };
    data: Estimate;
  };
  'GET /api/price/': {
    data: {
      /** Which list prices came with this gateway. */
      snapshot: { name: string; version: string };
      models: PricedModel[];
    };
  };
  'GET /api/pricing': {
    data: {
      model_name: string;
      /** 0: by tokens. 1: per call, or per image. */
      quota_type: 0 | 1;
      model_ratio: number;
      /** Currency units per call or image. */
      model_price: number;
      /** Of output to input. */
      completion_ratio: number;
      cache_ratio?: number;
      create_cache_ratio?: number;
      owner_by?: string;
      enable_groups?: string[];
      supported_endpoint_types?: string[];
      /** The same exactly: currency units as decimal numbers are written. */
      price?: {};
    }[];
  };
  'GET /api/redemption/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
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
      /** Unix seconds; 0: never. */
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
      /** Unix seconds; 0: never. */
      expired_time?: number;
      /** 1 unused, 2 disabled; set with `status_only`, else as it was read. */
      status?: number;
      /** Not set here: as it was read, or left out. */
      user_id?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      username?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      key?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      created_time?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      redeemed_time?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      used_user_id?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      used_username?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      count?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
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
      keyword?: string;
      state?: 'unused' | 'disabled' | 'used' | 'expired';
      whole?: '1';
    };
    data: RedemptionCodePage;
  };
  'GET /api/redemption/{id}': { params: { id: string }; data: RedemptionCode };
  'DELETE /api/redemption/{id}': { params: { id: string }; data: null };
  'GET /api/reset_password': { search: { email: string }; data: null };
  'GET /api/setup': { data: { status: true; root_init: true; database_type: 'sqlite' } };
  'GET /api/status': { data: Status };
  'POST /api/subscription/admin/bind': { body: { user_id: number; plan: string }; data: SubscriptionState };
  'POST /api/subscription/admin/cancel': { body: { user_id: number }; data: SubscriptionState };
  'GET /api/subscription/admin/users/{id}': { params: { id: string }; data: SubscriptionState };
  'POST /api/subscription/alipay/pay': {
    body: PlanOrderRequest;
    data: {
      /** The page where it is paid. */
      pay_link?: string;
      /** In its place, what to show as a QR code. */
      pay_url?: string;
      /** The same as a picture: a data address of SVG. */
      pay_qr?: string;
      order_id: string;
    };
  };
  'POST /api/subscription/balance/pay': {
    body: {
      /** Its name. */
      plan?: string;
      /** The same. */
      plan_id?: string;
    };
    data: Order;
  };
  'POST /api/subscription/epay/pay': {
    body: PlanOrderRequest;
    /** The fields of a form that the browser posts to `url`. */
    data: { [k: string]: string };
  };
  'GET /api/subscription/plans': { data: { plan: Plan }[] };
  'GET /api/subscription/self': {
    data: {
      billing_preference?: 'subscription_first';
      /** The one that runs, if any. */
      subscriptions: { subscription: Subscription }[];
      /** The same, or the last to have expired. */
      all_subscriptions: { subscription: Subscription }[];
    };
  };
  'POST /api/subscription/stripe/pay': {
    body: PlanOrderRequest;
    data: {
      /** The page where it is paid. */
      pay_link?: string;
      order_id: string;
    };
  };
  'GET /api/system': { data: Vitals };
  'GET /api/system/history': { data: VitalsSample[] };
  'GET /api/team/budgets': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      department_id?: number;
      user_id?: number;
      model?: string;
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
      /** People whose calls were served. */
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
      /** When it stops to work, unix seconds in the future; -1: never. */
      expired_time?: number;
      /** What it may spend from now on, in quota units. */
      remain_quota?: number;
      /** It may spend what its account has. Left out: unless remain_quota is there. */
      unlimited_quota?: boolean;
      /** Left out: where model_limits names some. */
      model_limits_enabled?: boolean;
      /** Names of models, with commas between them. */
      model_limits?: string;
      /** Addresses and networks (10.0.0.0/8), one on a line; empty: all. */
      allow_ips?: string | null;
      /** A translation that would change the answer is refused. */
      strict?: boolean;
      /** Not set here: as it was read, or left out. */
      key?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      created_time?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      group?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      cross_group_retry?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      auto_groups?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      DeletedAt?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      accessed_time?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      used_quota?: { [k: string]: unknown };
      /** Whose key: a user with a role below your own, for administrators. Left out or 0: your own. */
      user_id?: number;
      /** The gateway gives it: 0, or left out. */
      id?: 0;
      /** 1 enabled, 2 disabled. Left out: 1. */
      status?: 1 | 2;
    };
    data: Key;
  };
  'PUT /api/token/': {
    search: { status_only?: string };
    body: {
      name?: string;
      /** When it stops to work, unix seconds in the future; -1: never. */
      expired_time?: number;
      /** What it may spend from now on, in quota units. */
      remain_quota?: number;
      /** It may spend what its account has. Left out: unless remain_quota is there. */
      unlimited_quota?: boolean;
      /** Left out: where model_limits names some. */
      model_limits_enabled?: boolean;
      /** Names of models, with commas between them. */
      model_limits?: string;
      /** Addresses and networks (10.0.0.0/8), one on a line; empty: all. */
      allow_ips?: string | null;
      /** A translation that would change the answer is refused. */
      strict?: boolean;
      /** Not set here: as it was read, or left out. */
      key?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      created_time?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      group?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      cross_group_retry?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      auto_groups?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      DeletedAt?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      accessed_time?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      used_quota?: { [k: string]: unknown };
      /** Whose key: a user with a role below your own, for administrators. Left out or 0: your own. */
      user_id?: number;
      id: number;
      /** 1 enabled, 2 disabled; 3 and 4 are said back and change nothing. */
      status?: 1 | 2 | 3 | 4;
    };
    data: Key;
  };
  'POST /api/token/batch': { body: { ids: number[] }; data: number };
  'GET /api/token/default': { data: Key };
  'GET /api/token/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
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
      /** The days that the lists are of, the oldest first. */
      dates: string[];
      items: KeyUsage[];
    };
  };
  'GET /api/token/{id}': { params: { id: string }; data: Key };
  'DELETE /api/token/{id}': { params: { id: string }; data: null };
  'POST /api/token/{id}/key': {
    params: { id: string };
    body: {
      /** How long the key that was works on; left out: not at all. */
      grace_seconds?: number;
    };
    data: Key;
  };
  'GET /api/usage/self/sums': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_id?: number;
      model?: string;
      format?: 'json' | 'csv';
      group_by?: 'none' | 'model' | 'key';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      group_by: 'none' | 'model' | 'key';
      total: UsageSums;
      /** Those that cost most come first; none with `group_by=none`. */
      items: UsageGroup[];
    };
  };
  'GET /api/usage/self/trend': {
    search: {
      start_timestamp?: number;
      end_timestamp?: number;
      token_id?: number;
      model?: string;
      format?: 'json' | 'csv';
      granularity?: 'day' | 'hour';
      top?: number;
      group_by?: 'none' | 'model' | 'key';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      granularity: 'day' | 'hour';
      group_by: 'none' | 'model' | 'key';
      /** The oldest first; times without any calls, and groups without any then, are left out. */
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
      format?: 'json' | 'csv';
      group_by?: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      group_by: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel';
      total: UsageSums;
      /** Those that cost most come first; none with `group_by=none`. */
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
        /** Quota units, with a fraction if there is one; of an unlimited key what it used. */
        total_granted: number;
        total_used: number;
        /** 0 where it is unlimited. */
        total_available: number;
        /** It may spend what its account has. */
        unlimited_quota: boolean;
        model_limits?: { [k: string]: true };
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
      format?: 'json' | 'csv';
      granularity?: 'day' | 'hour';
      top?: number;
      group_by?: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel';
    };
    data: {
      start_timestamp: number;
      end_timestamp: number;
      granularity: 'day' | 'hour';
      group_by: 'none' | 'account' | 'key' | 'model' | 'department' | 'channel';
      /** The oldest first; times without any calls, and groups without any then, are left out. */
      items: UsageTrendItem[];
    };
  };
  'GET /api/user/': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
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
      password: string;
      /** Empty: as it is. */
      display_name?: string;
      /** 1 member, 10 administrator; always below your own. */
      role?: 1 | 10;
      /** It counts as proven. */
      email?: string;
      /** A word of the operator's for this kind of account. */
      group?: string;
      /** Never shown to the person. */
      remark?: string;
    };
    data: User;
  };
  'PUT /api/user/': {
    body: {
      id: number;
      username?: string;
      /** Empty: as it is. */
      display_name?: string;
      /** Empty: it stays. Needs a check (POST /api/verify). */
      password?: string;
      /** It counts as proven; empty: none. Needs a check (POST /api/verify). */
      email?: string | null;
      /** A word of the operator's for this kind of account. */
      group?: string;
      /** Never shown to the person. */
      remark?: string;
      /** Not set here: as it was read, or left out. */
      role?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      status?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      quota?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      unlimited_quota?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      department_id?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      department_name?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      has_password?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      created_at?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      DeletedAt?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      two_factor?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      passkey?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      bindings?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      used_quota?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      last_login_at?: { [k: string]: unknown };
      /** Counted by the gateway; sent back, it changes nothing. */
      debt?: { [k: string]: unknown };
    };
    data: User;
  };
  'POST /api/user/2fa/backup_codes': {
    body: {
      /** Of the authenticator, or a backup code. */
      code: string;
    };
    data: {
      /** Good once each. */
      backup_codes: string[];
    };
  };
  'POST /api/user/2fa/disable': {
    body: {
      /** Of the authenticator, or a backup code. */
      code: string;
    };
    data: null;
  };
  'POST /api/user/2fa/enable': {
    body: {
      /** Of the authenticator, or a backup code. */
      code: string;
    };
    data: null;
  };
  'POST /api/user/2fa/setup': {
    data: {
      /** Base32. */
      secret: string;
      /** The same as otpauth. */
      qr_code_data: string;
      /** otpauth://totp/… */
      otpauth: string;
      /** The same as a picture: an address with the data of an SVG image. */
      qr: string;
      /** Good once each. */
      backup_codes: string[];
    };
  };
  'GET /api/user/2fa/status': {
    data: {
      enabled: boolean;
      /** Too many codes were wrong: for now none is taken. */
      locked: boolean;
      /** Where it is enabled. */
      backup_codes_remaining?: number;
    };
  };
  'POST /api/user/alipay/amount': { body: PriceRequest; data: string };
  'POST /api/user/alipay/pay': {
    body: TopUpRequest;
    data: {
      /** The page where it is paid. */
      pay_link?: string;
      /** In its place, what to show as a QR code. */
      pay_url?: string;
      /** The same as a picture: a data address of SVG. */
      pay_qr?: string;
      order_id: string;
    };
  };
  'POST /api/user/amount': { body: PriceRequest; data: string };
  'POST /api/user/auth/logout': { data: null };
  'POST /api/user/creem/pay': {
    body: {
      product_id: string;
      /** The way to pay, of `pay_methods`. */
      payment_method?: string;
      /** A page of the console to come back to; not for wallets. */
      success_url?: string;
      /** Where to come back to unpaid. */
      cancel_url?: string;
      /** Not set here: as it was read, or left out. */
      price?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      money?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      quota?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      currency?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      top_up_code?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      pay_method_index?: { [k: string]: unknown };
    };
    data: { checkout_url: string; order_id: string };
  };
  'GET /api/user/department': {
    /** From the own department up to the top; empty for whoever is in none. */
    data: {
      name: string;
      /** 1 enabled; 0 disabled: calls are refused. */
      status: 0 | 1;
      /** What calls of its people cost: 1 is the price. The first one counts. */
      ratio: number;
      budgets: {
        /** In all, or in a calendar month (UTC). */
        window: 'total' | 'month';
        /** Quota units. */
        limit: number;
        /** By all its people and those below, together. */
        used: number;
        /** Less what running calls hold. */
        remaining: number;
        /** Unix seconds; null: never. */
        resets_at: number | null;
      }[];
    }[];
  };
  'GET /api/user/groups': { data: { [k: string]: { ratio?: number; desc?: string } } };
  'POST /api/user/invitation': {
    body: { expires_days?: number };
    data: {
      id: number;
      /** Shown here and never again. */
      code: string;
      /** Unix seconds. */
      expires_at: number;
    };
  };
  'GET /api/user/invitations': {
    search: { p?: number; page_size?: number; ps?: number; size?: number };
    data: InvitationPage;
  };
  'DELETE /api/user/invitations/{id}': { params: { id: string }; data: null };
  'POST /api/user/login': {
    body: {
      /** Or the e-mail address. */
      username: string;
      password: string;
    };
    data: SignInResult;
  };
  'POST /api/user/login/2fa': {
    body: {
      /** Of the authenticator, or a backup code. */
      code: string;
      /** Of the first step; else its cookie counts. */
      flow_token?: string;
    };
    /** Who has signed in. */
    data: SignedIn;
  };
  'GET /api/user/logout': { data: null };
  'POST /api/user/manage': {
    body: UserAction;
    data: {
      role: 1 | 10 | 100;
      status: 1 | 2;
      /** What is left now, in quota units. */
      quota: number;
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
    /** Who has signed in. */
    data: SignedIn;
  };
  'POST /api/user/passkey/register/begin': { data: PasskeyCeremony };
  'POST /api/user/passkey/register/finish': { body: PasskeyCredential; data: null };
  'POST /api/user/passkey/verify/begin': { data: PasskeyCeremony };
  'POST /api/user/passkey/verify/finish': { body: PasskeyCredential; data: Verified };
  'POST /api/user/pay': {
    body: TopUpRequest;
    /** The fields of a form that the browser posts to `url`. */
    data: { [k: string]: string };
  };
  'POST /api/user/register': {
    body: {
      username: string;
      /** 8 to 256 characters. */
      password: string;
      /** The same once more, or left out. */
      password2?: string;
      /** Needs `verification_code`. */
      email?: string;
      /** Of the letter that GET /api/verification sends. */
      verification_code?: string;
      /** An invitation, where one is wanted. */
      invite_code?: string;
      /** The same as invite_code. */
      aff_code?: string;
    };
    data: null;
  };
  'POST /api/user/reset': {
    body: {
      email: string;
      token: string;
      /** Left out: one is made up, and answered. */
      password?: string;
    };
    /** The password that was made up; null where one was sent. */
    data: string | null;
  };
  'GET /api/user/search': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
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
      /** A new one; empty: it stays. Ends all other sessions. */
      password?: string;
      /** The current one; needed for a new one. */
      original_password?: string;
      language?: string;
      /** JSON text of a console. */
      sidebar_modules?: string;
    };
    data: null;
  };
  'DELETE /api/user/self': { data: null };
  'GET /api/user/self/groups': { data: { [k: string]: { ratio?: number; desc?: string } } };
  'GET /api/user/sessions': { data: OwnSession[] };
  'POST /api/user/sessions/revoke-others': { data: { revoked_count: number } };
  'DELETE /api/user/sessions/{id}': { params: { id: string }; data: { revoked_sid: string; current: boolean } };
  'PUT /api/user/setting': {
    body: {
      /** How notices come. */
      notify_type?: 'email' | 'webhook';
      /** Quota units; a notice is sent when fewer are left. Null: none is. */
      quota_warning_threshold?: number | null;
      /** Empty or null takes it away. */
      webhook_url?: string | null;
      /** Signs notices. Empty: it stays as it is; null takes it away. Never shown. */
      webhook_secret?: string | null;
      /** Instead of the address of the account. Empty or null takes it away. */
      notification_email?: string | null;
      /** Whether the own log tells addresses. */
      record_ip_log?: boolean;
      language?: string;
      /** JSON text of a console. */
      sidebar_modules?: string;
      /** Not set here: as it was read, or left out. */
      bark_url?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      gotify_url?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      gotify_token?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      accept_unset_model_ratio_model?: { [k: string]: unknown };
      /** Not set here: as it was read, or left out. */
      upstream_model_update_notify_enabled?: { [k: string]: unknown };
      /** Goes with gotify_url, and says nothing without it. */
      gotify_priority?: { [k: string]: unknown };
    };
    data: null;
  };
  'GET /api/user/statement': { search: { days?: number; page_size?: number; before?: string }; data: Statement };
  'POST /api/user/stripe/amount': { body: PriceRequest; data: string };
  'POST /api/user/stripe/pay': {
    body: TopUpRequest;
    data: {
      /** The page where it is paid. */
      pay_link?: string;
      order_id: string;
    };
  };
  'GET /api/user/subscription/stats': { data: SubscriptionState };
  'GET /api/user/token': {
    /** Shown here and never again. */
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
      /** How long a new one works: `console.accessToken.days`. */
      valid_days: number;
    };
  };
  'GET /api/user/topup': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
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
      /** How you know that it was paid, for the audit. */
      reason?: string;
    };
    data: Order;
  };
  'GET /api/user/topup/info': { data: TopUpInfo };
  'GET /api/user/topup/self': {
    search: {
      p?: number;
      page_size?: number;
      ps?: number;
      size?: number;
      keyword?: string;
      status?: 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';
      provider?: string;
    };
    data: OrderPage;
  };
  'GET /api/user/topup/status': { search: { trade_no: string }; data: Order };
  'GET /api/user/unbind/{provider}': { params: { provider: string }; data: null };
  'DELETE /api/user/unbind/{provider}': { params: { provider: string }; data: null };
  'GET /api/user/{id}': { params: { id: string }; data: UserDetail };
  'DELETE /api/user/{id}': { params: { id: string }; data: null };
  'DELETE /api/user/{id}/2fa': { params: { id: string }; data: null };
  'DELETE /api/user/{id}/bindings/{type}': { params: { id: string; type: string }; data: null };
  'DELETE /api/user/{id}/reset_passkey': { params: { id: string }; data: null };
  'GET /api/user/{id}/sessions': { params: { id: string }; data: UserSession[] };
  'DELETE /api/user/{id}/sessions': { params: { id: string }; data: number };
  'DELETE /api/user/{id}/sessions/{session}': { params: { id: string; session: string }; data: null };
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
  'GET /api/verification': { search: { email: string }; data: null };
  'POST /api/verify': {
    body: {
      method: '2fa' | 'passkey' | 'password';
      /** With `2fa`: of the authenticator, or a backup code. */
      code?: string;
      /** With `password`, for accounts that have no second factor. */
      password?: string;
      /** Ignored: a check counts for everything. */
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
export interface AuditEntry {
  /** Without gaps. */
  seq: number;
  /** Unix seconds. */
  created_at: number;
  actor_id: number | null;
  actor: string;
  ip: string;
  action: string;
  object: string;
  /** What the person, key or department is called now; empty where that is not known. */
  object_name: string;
  /** What it was and what it is. */
  facts: { [k: string]: unknown };
  /** Over this entry and all before it. */
  hash: string;
}
export interface Configuration {
  /** Its name, without the folder. */
  file: string;
  /** Which configuration since the start runs; from 1. */
  generation: number;
  running: {
    text: string;
    /** Unix seconds. */
    loaded_at: number;
  };
  disk: {
    text: string;
    /** It says something else than what runs. */
    changed: boolean;
    /** Unix seconds; null where it cannot be read. */
    modified_at: number | null;
  };
  /** What keeps it from being taken; none: it would be. */
  problems: ConfigRemark[];
  /** What works and is unwise. */
  warnings: ConfigRemark[];
  /** What `turnpike check` prints, line by line; empty where there are problems. */
  report: string[];
}
export interface ConfigRemark {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** `channels[0].vendor`; empty for the file itself. */
  path: string;
  message: string;
}
export interface ConfigCheck {
  /** What keeps it from being taken; none: it would be. */
  problems: ConfigRemark[];
  /** What works and is unwise. */
  warnings: ConfigRemark[];
  /** What `turnpike check` prints, line by line; empty where there are problems. */
  report: string[];
}
export interface HourlyUsage {
  /** 0: of everybody. */
  user_id: number;
  username: string;
  model_name: string;
  /** When the hour begins, unix seconds. */
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
  /** The budget in all, in quota units; null: no limit. */
  quota: number | null;
  /** What its people and those below have used of it. */
  used_quota: number;
  /** The budget of a calendar month (UTC). */
  monthly_quota: number | null;
  /** What calls of its people cost: 1 is the price. */
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
  /** The budget in all, in quota units; null: no limit. */
  quota: number | null;
  /** What its people and those below have used of it. */
  used_quota: number;
  /** The budget of a calendar month (UTC). */
  monthly_quota: number | null;
  /** What calls of its people cost: 1 is the price. */
  ratio: number;
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  updated_at: number;
  /** Of the budget of this calendar month (UTC), those below included; 0 where it has none. */
  monthly_used_quota: number;
  /** People right in it. */
  member_count: number;
  /** Departments with children of their own. */
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
  /** Proven; empty where there is none. */
  email: string;
  group: string;
  /** What is left, in quota units; 0 where it is unlimited. */
  quota: number;
  used_quota: number;
  unlimited_quota: boolean;
  remark: string;
  department_id: number | null;
  department_name: string;
  has_password: boolean;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds; 0: never. */
  last_login_at: number;
  /** When it was deleted. */
  DeletedAt: string | null;
}
export interface LogPage {
  page: number;
  page_size: number;
  /** How many lines there are, each of which stands for its `times`; with `before`, from there on. Of everybody (no username, no group) counting ends at 10,000. */
  total: number;
  items: LogLine[];
  /** The `before` of the next page; null: this is the last. */
  next: string | null;
}
export interface LogLine {
  /** Made of the time: later lines have larger ones. */
  id: number;
  user_id: number;
  /** When it began, unix seconds. */
  created_at: number;
  /** 1 top-up, 2 use, 3 managed, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key (tokens counted, a kept response read …). */
  type: number;
  /** How many requests it stands for: those of one key and minute that ended alike before a vendor was asked; all else is told of the first. */
  times: number;
  /** What happened, for people. */
  content: string;
  username?: string;
  /** The name of the key; of one that was deleted, its last. */
  token_name?: string;
  token_id?: number;
  /** The model that was asked for. */
  model_name?: string;
  /** What it cost, or moved, in quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Seconds. */
  use_time?: number;
  is_stream?: boolean;
  /** Always 0: channels have names. */
  channel?: number;
  channel_name?: string;
  group?: string;
  /** In the own log only where the setting record_ip_log is on. */
  ip?: string;
  /** The `x-request-id` of the answer. */
  request_id: string;
  /** A JSON object as text: outcome, status, attempts, milliseconds in all (duration_ms) and to the first byte (frt), of a refusal its code, tokens read from caches (cache_tokens) and written to them. */
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
  /** What the messages lack of the request, as the header `x-turnpike-translation` names it. */
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
  /** Of the tool call that it is, or that it answers. */
  id: string | null;
  /** How large media is, which is not stored; null: unknown. */
  bytes: number | null;
  /** Bytes of the text that are not stored: `prompts.maxBytes`. */
  cut_bytes: number;
  /** The tool failed. */
  is_error: boolean;
}
export interface CallDetail {
  /** Made of the time: later lines have larger ones. */
  id: number;
  user_id: number;
  /** When it began, unix seconds. */
  created_at: number;
  /** 1 top-up, 2 use, 3 managed, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key (tokens counted, a kept response read …). */
  type: number;
  /** How many requests it stands for: those of one key and minute that ended alike before a vendor was asked; all else is told of the first. */
  times: number;
  /** What happened, for people. */
  content: string;
  username?: string;
  /** The name of the key; of one that was deleted, its last. */
  token_name?: string;
  token_id?: number;
  /** The model that was asked for. */
  model_name?: string;
  /** What it cost, or moved, in quota units, with a fraction if there is one. */
  quota: number;
  /** The same in currency units, a decimal number. */
  cost?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Seconds. */
  use_time?: number;
  is_stream?: boolean;
  /** Always 0: channels have names. */
  channel?: number;
  channel_name?: string;
  group?: string;
  /** In the own log only where the setting record_ip_log is on. */
  ip?: string;
  /** The `x-request-id` of the answer. */
  request_id: string;
  /** A JSON object as text: outcome, status, attempts, milliseconds in all (duration_ms) and to the first byte (frt), of a refusal its code, tokens read from caches (cache_tokens) and written to them. */
  other: string;
  /** When it began, unix milliseconds. */
  at_ms: number;
  duration_ms: number;
  /** From its beginning to the first byte of the answer. */
  first_byte_ms: number | null;
  /** Output tokens: of a stream from the first byte on, else of the whole time. */
  tokens_per_second: number | null;
  outcome: 'served' | 'refused' | 'failed' | 'aborted' | 'recovered';
  /** The status that the client got, or would have got. */
  status: number;
  /** chat, responses, messages …; of a passage its path; empty: it is no call. */
  style: string;
  stream: boolean;
  /** The `x-request-id` that the client sent. */
  client_request_id: string | null;
  /** Channel, status and failure of each, and how long it took; for administrators the model there and the reason, too. */
  attempts: { [k: string]: unknown }[];
  /** What the translation changed or left out, as the header `x-turnpike-translation` names it. */
  translation: string[];
  /** What else was noted of it. */
  notes: { [k: string]: unknown };
  /** Every count that was made: input and output tokens, and those among them that are told apart (cache_read, reasoning …); characters, seconds, images, uses of the vendor's tools (web_search …). Empty: nothing was used. */
  usage: { [k: string]: number };
  /** The kind of images that were made; null: none were. */
  image: { size: string; quality: string } | null;
  /** The vendor did not count, so we did. */
  estimated: boolean;
  /** How the charge came about; null: nobody keeps books here. */
  receipt: Receipt;
  /** What the call moved in the books, in every layer that it was taken from; none where it cost nothing. */
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
  /** Of a use: which tool of the vendor it was (`web_search`). */
  name: string | null;
  count: number;
  /** Currency units for `per` of them, a decimal number. */
  price: string;
  per: 1000000 | 3600 | 1;
  unit: 'token' | 'image' | 'second' | 'character' | 'use' | 'request';
  /** Quota units before the factor, a decimal number, not rounded. */
  quota: string;
}
export interface LedgerEntry {
  op: 'debit' | 'credit' | 'refund' | 'adjust';
  kind: 'account' | 'key' | 'department' | 'department-month' | 'day' | 'week' | 'month' | 'debt';
  /** Of an account, key or department; of day, week and month the subscription. */
  owner_id: number;
  /** Of a subscription the plan, while it is the current one. */
  owner_name: string | null;
  /** When the window began; null: it has none. */
  window_start_ms: number | null;
  /** What was set aside, in quota units; null: that was not written down. */
  hold: string | null;
  /** Quota units, a decimal number. */
  amount: string;
  /** What was set free of the hold. */
  release: string | null;
  at_ms: number;
  /** The `request_id`. */
  ref: string;
  /** `call`; `recovery`: what was closed after the gateway had stopped. */
  actor: string;
}
export interface Latency {
  /** How many were looked at. */
  calls: number;
  /** When the oldest of them began, unix seconds; 0: there are none. */
  since: number;
  served: number;
  failed: number;
  refused: number;
  /** The client left. */
  aborted: number;
  /** Of calls that were served: from the request to the end of the answer. */
  duration: LatencyDistribution;
  /** Of the same: from the request to the first byte of the answer. */
  first_byte: LatencyDistribution;
}
export interface LatencyDistribution {
  count: number;
  /** Null: there are none. */
  p50_ms: number | null;
  /** Null: there are none. */
  p95_ms: number | null;
  /** Null: there are none. */
  p99_ms: number | null;
  histogram: {
    /** Up to and with so many milliseconds; null: longer. */
    le_ms: number | null;
    /** That are longer than the step before. */
    count: number;
  }[];
}
export interface RunningCalls {
  /** How many run, in all gateways that answer; at most 200 are in the list. */
  total: number;
  items: GatewayCall[];
}
export interface GatewayCall {
  /** What will be its `request_id` in the log. */
  id: string;
  /** Unix milliseconds. */
  started_at_ms: number;
  /** How long it has run, in milliseconds. */
  ms: number;
  /** Empty until it is known who is calling. */
  username: string;
  token_name: string;
  /** Empty where its path is carried without being understood. */
  style: string;
  /** Empty until the request was read. */
  model: string;
  stream: boolean;
  /** Which was asked last; null: none yet. */
  channel: string | null;
  attempts: number;
  /** waiting: no vendor was asked yet. asking: one was. answering: the client has had a part of its answer. */
  phase: 'waiting' | 'asking' | 'answering';
  /** So far. */
  output_tokens: number;
  /** The gateway that it runs in, `HOST:PORT`; null: there is only one on the database. */
  gateway: string | null;
}
export interface RunningCall {
  /** What will be its `request_id` in the log. */
  id: string;
  /** Unix milliseconds. */
  started_at_ms: number;
  /** How long it has run, in milliseconds. */
  ms: number;
  /** Empty until it is known who is calling. */
  username: string;
  token_name: string;
  /** Empty where its path is carried without being understood. */
  style: string;
  /** Empty until the request was read. */
  model: string;
  stream: boolean;
  /** Which was asked last; null: none yet. */
  channel: string | null;
  attempts: number;
  /** waiting: no vendor was asked yet. asking: one was. answering: the client has had a part of its answer. */
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
  /** Calls that began within the last 60 seconds and have ended, whatever the range. */
  rpm: number;
  /** Their tokens. */
  tpm: number;
  /** The oldest first. */
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
  /** The 100 that cost most. */
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
  /** The 100 that cost most. */
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
  /** The model behind it, where it is another name of one. */
  model: string;
  /** The styles it may be asked in. */
  styles: {
    name: string;
    /** Where: `/v1/chat/completions`. */
    path: string;
    /** False: calls are translated to another style on their way. */
    native: boolean;
  }[];
  /** What it is for; null: that is not known, only in which styles it may be asked. */
  purposes: ('chat' | 'embeddings' | 'images' | 'speech' | 'transcription')[] | null;
  /** Tokens; null: nobody knows. */
  context_window: number | null;
  /** Tokens; null: nobody knows. */
  max_output: number | null;
  /** null: nobody knows. */
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
  /** Decimal numbers as text; what is missing is charged as input or output. null: it has no price. */
  price: Price;
  /** degraded: some of what may serve it fails, or it is served by another model. down: nothing answers. */
  health: 'well' | 'degraded' | 'down';
  recent: RecentAttempts;
  /** For administrators: where it is served; else null. */
  channels: { name: string; vendor: string; state: 'closed' | 'open' | 'half-open' }[] | null;
}
export interface RecentAttempts {
  /** Unix seconds: a day ago, or when the process started; counts are in its memory. */
  since: number;
  /** Without those that were refused, or left before they were answered. */
  attempts: number;
  failures: number;
  /** From 0 to 1; null: there were none. */
  success_share: number | null;
  /** Milliseconds, to about a tenth; null: nothing was answered. */
  p50_first_byte_ms: number | null;
  /** Milliseconds, to about a tenth; null: nothing was answered. */
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
  /** Quota units that are set aside for it, rounded up; null: that is not known, or it would be refused. */
  at_most: number | null;
  /** at_most is a guess, and grows with the answer: the call limits not all of its output. */
  may_grow: boolean;
  /** Tokens, by length: nobody has counted them. */
  input_estimate: number | null;
  /** Tokens; null: the call sets no limit. */
  output_limit: number | null;
  /** On one line. */
  price: string | null;
  /** What cannot be carried over to where it would go first, as `x-turnpike-translation` names it. */
  losses: string[];
  /** For administrators: the channels in the order in which they would be asked; else null. */
  would_go_to:
    | {
        channel: string;
        /** What it is called there. */
        model: string;
        /** The one spoken there. */
        style: string;
        state: string;
        /** False where it is passed over as things stand. */
        asked: boolean;
      }[]
    | null;
  /** What the call would be refused with. */
  refusal: { status: number; code: string; message: string } | null;
}
export interface PricedModel {
  name: string;
  /** Its other names. */
  aliases: string[];
  /** The models that it stands in for. */
  fallback_of: string[];
  free: boolean;
  /** It, or what may serve in its place, has no price. */
  unpriced: boolean;
  /** What becomes of its calls. */
  calls: 'charged' | 'free' | 'refused';
  /** The same as a sentence. */
  consequence: string;
  /** Decimal numbers as text; what is missing is charged as input or output. null: it has no price. */
  price: Price;
  source: PriceSource;
  /** The first day of the price (UTC), where that is written: `2026-01-31`. */
  effective_from: string | null;
  /** Prices that follow, in their order. */
  upcoming: {
    effective_from: string;
    text: string;
    /** Decimal numbers as text; what is missing is charged as input or output. null: it has no price. */
    price: Price;
  }[];
  /** Where it is served; list prices may differ from one to the other. */
  channels: {
    channel: string;
    /** What it is called there. */
    model: string;
    /** The price on one line; null: it has none. */
    text: string | null;
    source: PriceSource;
  }[];
  /** The list price, where gateway.yaml says another. */
  published: { text: string; source: string } | null;
  /** Amounts that are more than a tenth away from what is published: to be looked at again. */
  drift: {
    /** Its name in `price`. */
    field: string;
    configured: string;
    published: string;
    /** How far above it; null: the published one is 0. */
    percent: number | null;
  }[];
}
export interface RedemptionCodePage {
  page: number;
  page_size: number;
  total: number;
  items: RedemptionCode[];
}
export interface RedemptionCode {
  id: number;
  /** Who made it. */
  user_id: number;
  /** The name of whoever made it. */
  username: string;
  /** The code; its beginning if there was no check (POST /api/verify) within the last five minutes. */
  key: string;
  /** 1 unused, 2 disabled, 3 used */
  status: 1 | 2 | 3;
  name: string;
  /** Quota units. */
  quota: number;
  created_time: number;
  /** 0: not yet. */
  redeemed_time: number;
  /** 0: nobody. */
  used_user_id: number;
  /** Empty: nobody. */
  used_username: string;
  /** Unix seconds; 0: never. */
  expired_time: number;
  count?: 0;
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
  password_login_enabled?: true;
  invitation_required: boolean;
  email_verification: boolean;
  /** What becomes of letters: a server sends them, or they stand in the log; or there are none. */
  letters: 'sent' | 'logged' | 'none';
  /** Currency for one unit bought, at the first provider of payments; else 1. */
  price?: number;
  /** The same at stripe, where that is one of them. */
  stripe_unit_price?: number;
  setup?: true;
  display_in_currency?: true;
  quota_display_type?: 'USD';
  usd_exchange_rate?: 1;
  /** What one can sign in with: GET /api/oauth/:name. */
  oauth_providers: { name: string; label: string }[];
  github_oauth?: boolean;
  github_client_id?: string;
  oidc_enabled?: boolean;
  /** Of the first that speaks OpenID Connect. */
  oidc_client_id?: string;
  oidc_display_name?: string;
  oidc_authorization_endpoint?: '';
  passkey_login: boolean;
  passkey_display_name?: string;
  passkey_rp_id: string;
  /** With commas between them. */
  passkey_origins: string;
  passkey_allow_insecure?: boolean;
  passkey_user_verification?: 'required';
  passkey_attachment?: '';
  announcements_enabled?: false;
  api_info_enabled?: false;
  chats?: [];
  data_export_default_time?: 'hour';
  checkin_enabled?: false;
  custom_currency_exchange_rate?: 1;
  custom_currency_symbol?: '';
  default_collapse_sidebar?: false;
  default_use_auto_group?: false;
  demo_site_enabled?: false;
  discord_client_id?: '';
  discord_oauth?: false;
  docs_link?: '';
  enable_batch_update?: false;
  enable_data_export?: false;
  enable_drawing?: false;
  enable_task?: false;
  faq_enabled?: false;
  footer_html?: '';
  linuxdo_client_id?: '';
  linuxdo_minimum_trust_level?: 0;
  linuxdo_oauth?: false;
  logo?: '';
  mj_notify_enabled?: false;
  privacy_policy_enabled?: false;
  self_use_mode_enabled?: false;
  HeaderNavModules?: '';
  SidebarModulesAdmin?: '';
  telegram_bot_name?: '';
  telegram_oauth?: false;
  theme?: 'default';
  turnstile_check?: false;
  turnstile_site_key?: '';
  uptime_kuma_enabled?: false;
  user_agreement_enabled?: false;
  wechat_login?: false;
  wechat_qrcode?: '';
}
export interface SubscriptionState {
  /** Its name; null: there is no subscription. */
  plan: string | null;
  /** What people read. */
  plan_name: string;
  status: 'active' | 'expired' | 'none';
  /** Unix seconds; 0: none. */
  starts_at: number;
  /** Unix seconds; 0: none. */
  expires_at: number;
  /** Those that the plan limits; all of them UTC, the month thirty days from the start. */
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
  /** In quota units. */
  limit: number;
  /** In quota units. */
  used: number;
  /** In quota units. */
  remaining: number;
  /** Unix seconds; 0: none. */
  resets_at: number;
}
export interface PlanOrderRequest {
  /** Its name. */
  plan?: string;
  /** The same. */
  plan_id?: string;
  /** The way to pay, of `pay_methods`. */
  payment_method?: string;
  /** A page of the console to come back to; not for wallets. */
  success_url?: string;
  /** Where to come back to unpaid. */
  cancel_url?: string;
  /** Not set here: as it was read, or left out. */
  price?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  money?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  quota?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  currency?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  top_up_code?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  pay_method_index?: { [k: string]: unknown };
}
export interface Order {
  id: number;
  user_id: number;
  /** Told to administrators who list the orders; else empty. */
  username: string;
  kind: 'quota' | 'plan';
  plan: string;
  /** Currency units bought; quota units of a product; 0 for a plan. */
  amount: number;
  /** Quota units it gives. */
  quota: number;
  money: number;
  money_text: string;
  currency: string;
  /** How much of it went back. */
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
  title: string;
  /** Its name. */
  id: string;
  /** In currency units; null: it is not for sale. */
  price_amount: number | null;
  duration_unit?: 'day';
  duration_value: number;
  enabled?: true;
  /** In quota units; null: no limit. */
  daily_amount: number | null;
  /** In quota units; null: no limit. */
  weekly_amount: number | null;
  /** In quota units; null: no limit. */
  monthly_amount: number | null;
  /** Balance that comes with it, in quota units. */
  balance_amount: number;
  /** Calls within the windows cost nothing more. */
  includes_balance: boolean;
}
export interface Subscription {
  id?: number;
  user_id?: number;
  plan_id?: string;
  /** Of the month, in quota units; 0: no limit. */
  amount_total?: number;
  /** In quota units. */
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
    /** Everything that the process holds, in bytes. */
    rss: number;
    /** Bytes. */
    heap_used: number;
    /** Bytes. */
    heap_total: number;
    /** The heap cannot grow beyond it. Bytes. */
    heap_limit: number;
    /** Bytes. */
    external: number;
    /** Of the machine, or of the container where that has less. Bytes. */
    machine: number;
  };
  cpu: {
    /** Seconds of processor time since the process began. */
    user: number;
    /** The same inside the operating system. */
    system: number;
    cores: number;
    /** Of the machine, over 1, 5 and 15 minutes. */
    load: number[];
  };
  /** How late the event loop is, over the last minute; null in the first ten seconds. */
  lag: {
    /** Milliseconds. */
    mean_ms: number;
    /** Milliseconds. */
    p50_ms: number;
    /** In the worst ten seconds. Milliseconds. */
    p99_ms: number;
    /** Milliseconds. */
    max_ms: number;
  } | null;
  /** Calls that run now, in all gateways that answer. */
  in_flight: number;
  configuration: {
    /** Which configuration since the start this is; from 1. */
    generation: number;
    /** Unix seconds. */
    loaded_at: number;
    /** Other gateways on the same database that run with another gateway.yaml: `HOST:PORT` of each. */
    differing: string[];
  };
  /** How long sections of gateway.yaml keep what they keep: `{"log": "90d"}`. */
  keeps: { [k: string]: string };
  store: {
    /** Of its file, without the folder. */
    name: string;
    /** Lists that wait to be written. */
    waiting: number;
    /** False where it cannot be written now. */
    writable: boolean;
    /** False while the disk is nearly full: calls are served, and their responses are not kept. */
    keeps_responses: boolean;
    /** Null, as the next three, where the store does not say. */
    bytes: number | null;
    /** Of what is not in the file yet. */
    log_bytes: number | null;
    /** Bytes free where it lies. */
    disk_free: number | null;
    /** Bytes in all there. */
    disk_total: number | null;
  };
  /** The last `turnpike backup`; null: there was none. */
  backup: {
    /** Unix seconds. */
    at: number;
    /** Of its file, without the folder. */
    name: string;
    /** Null where the file could not be looked at. */
    bytes: number | null;
    /** How long it took. */
    ms: number;
  } | null;
  /** The address of a proxy that forwards requests and that `listen.trustProxy` does not name: all users share it. Null: there is none. */
  untrusted_proxy: string | null;
  /** All gateways on the same database, in the order of their names. */
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
  /** What it reports; null: it did not answer within a second. */
  report: {
    /** As `/readyz`: `ready` takes calls; `busy`: the database is slow or cannot be written. */
    readiness: 'starting' | 'ready' | 'busy' | 'draining';
    /** Digest of its gateway.yaml: equal digests, equal files. */
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
    /** How late the event loop is, over the last minute; null in the first ten seconds. */
    lag: {
      /** Milliseconds. */
      mean_ms: number;
      /** Milliseconds. */
      p50_ms: number;
      /** In the worst ten seconds. Milliseconds. */
      p99_ms: number;
      /** Milliseconds. */
      max_ms: number;
    } | null;
    /** Calls that run now. */
    in_flight: number;
    /** Calls that began within the last five minutes. */
    calls: number;
    store: {
      /** Lists that wait to be written. */
      waiting: number;
      /** False where it cannot write now. */
      writable: boolean;
    };
    /** Where rate limits are counted; null: it has no `counters`. */
    counters: {
      /** `memory` or `valkey`. */
      driver: string;
      /** Whether the shared server can be reached now; null: each gateway counts by itself. */
      shared: boolean | null;
    } | null;
  } | null;
}
export interface VitalsSample {
  /** Unix seconds. */
  at: number;
  /** Bytes. */
  rss: number;
  /** Bytes. */
  heap_used: number;
  /** Processor time per time: 1 is one core. */
  cpu: number;
  /** p99 of how late the event loop was, in milliseconds. */
  lag_ms: number;
  in_flight: number;
  /** Lists that waited to be written. */
  waiting: number;
}
export interface DepartmentBudget {
  department_id: number;
  name: string;
  /** The department above. */
  parent_id: number | null;
  period: 'total' | 'month';
  /** Unix seconds. */
  period_start: number | null;
  /** Unix seconds. */
  period_end: number | null;
  /** Quota units, here and below with a fraction if there is one; null: there is no limit. */
  budget: number | null;
  /** Of the budget, by its people and those below. */
  used: number;
  /** What calls that run have set aside is not in it. */
  remaining: number | null;
  /** How much of it is used. */
  percentage: number | null;
  /** Within the range that was asked for, with a fraction if there is one. */
  spent: number;
}
export interface UsageTrendItem {
  /** `2026-09-20`, or `2026-09-20T13:00:00Z`; UTC. */
  date: string;
  /** When it begins, unix seconds. */
  timestamp: number;
  /** The id of the department, member or key, or the model; null: all others. */
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
  /** How it is worked out, for people. */
  method: string;
  total: Spending;
  departments: {
    department_id: number;
    name: string;
    parent_id: number | null;
    /** In this calendar month (UTC), in quota units. */
    spent: number;
    /** Quota units per day: the mean of the last 7 whole days, or of those since the first call, if they are fewer. */
    daily_mean_7: number;
    /** Quota units per day: the mean of the last 28 whole days, or of those since the first call, if they are fewer. */
    daily_mean_28: number;
    /** What the month will come to. */
    projected: number;
    /** low: there were calls on fewer than 7 whole days, counted from the first of the last 28. */
    confidence: 'usual' | 'low';
    budgets: BudgetForecast[];
  }[];
}
export interface Spending {
  /** In this calendar month (UTC), in quota units. */
  spent: number;
  /** Quota units per day: the mean of the last 7 whole days, or of those since the first call, if they are fewer. */
  daily_mean_7: number;
  /** Quota units per day: the mean of the last 28 whole days, or of those since the first call, if they are fewer. */
  daily_mean_28: number;
  /** What the month will come to. */
  projected: number;
  /** low: there were calls on fewer than 7 whole days, counted from the first of the last 28. */
  confidence: 'usual' | 'low';
}
export interface BudgetForecast {
  period: 'total' | 'month';
  /** Quota units. */
  budget: number;
  used: number;
  remaining: number;
  /** The day (UTC) on which nothing is left of it at the mean of seven days; null: it lasts (that of a month to its end). */
  used_up_on: string | null;
}
export interface MemberUsage {
  user_id: number;
  username: string;
  display_name: string;
  /** The department now. */
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
  /** Empty: calls that were refused before a channel was found. */
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
  page: number;
  page_size: number;
  total: number;
  items: Key[];
}
export interface Key {
  id: number;
  user_id: number;
  name: string;
  /** Its first and last four characters; whole only in the answer that makes it. */
  key: string;
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: 1 | 2 | 3 | 4;
  /** Unix seconds. */
  created_time: number;
  /** The last call with it, to the minute, unix seconds; 0: there was none. */
  accessed_time: number;
  /** Unix seconds; -1: never. */
  expired_time: number;
  /** What it may spend still, in quota units; 0 where it is unlimited. */
  remain_quota: number;
  used_quota: number;
  /** It may spend what its account has. */
  unlimited_quota: boolean;
  model_limits_enabled: boolean;
  /** The models it may call, with commas between them. */
  model_limits: string;
  /** The addresses and networks it may be used from, one on a line; empty: all. */
  allow_ips: string;
  /** Always empty: prices and models are the same for all keys. */
  group: string;
  /** A translation that would change the answer is refused. */
  strict: boolean;
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
  /** To the minute, unix seconds; null: never. */
  last_used_at: number | null;
}
export interface UsageGroup {
  /** The id of the department, account or key; or the model, or the channel. */
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
  page: number;
  page_size: number;
  total: number;
  items: User[];
}
export interface PriceRequest {
  /** Currency units. */
  amount: number;
  /** The way to pay, of `pay_methods`. */
  payment_method?: string;
  /** Not set here: as it was read, or left out. */
  price?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  money?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  quota?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  currency?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  top_up_code?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  pay_method_index?: { [k: string]: unknown };
}
export interface TopUpRequest {
  /** Currency units. */
  amount: number;
  /** The way to pay, of `pay_methods`. */
  payment_method?: string;
  /** A page of the console to come back to; not for wallets. */
  success_url?: string;
  /** Where to come back to unpaid. */
  cancel_url?: string;
  /** Not set here: as it was read, or left out. */
  price?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  money?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  quota?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  currency?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  top_up_code?: { [k: string]: unknown };
  /** Not set here: as it was read, or left out. */
  pay_method_index?: { [k: string]: unknown };
}
export interface InvitationPage {
  page: number;
  page_size: number;
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
  /** The account that was made with it; 0: none. */
  used_by: number;
  used_by_name: string;
  /** Unix seconds; 0: not. */
  used_at: number;
  /** Unix seconds; 0: not. */
  revoked_at: number;
}
export interface UserAction {
  id: number;
  /** `delete`, the role and the quota need a check (POST /api/verify); only root changes roles. */
  action: 'enable' | 'disable' | 'delete' | 'promote' | 'demote' | 'add_quota';
  /** For add_quota, in quota units. */
  value?: number;
  /** For add_quota: more, less (never below nothing), or exactly so much left. Left out: add. */
  mode?: 'add' | 'subtract' | 'override';
  /** Why; for the audit log. */
  reason?: string;
}
export interface PasskeyCeremony {
  /** The public key options of WebAuthn as JSON; the same once more in `publicKey`, where some tools look. */
  options: { publicKey: {}; [k: string]: unknown };
  /** Goes back with the credential; else its cookie counts. */
  flow_token: string;
  /** Unix seconds. */
  expires_at: number;
}
export interface PasskeyCredential {
  /** Of `begin`; else its cookie counts. */
  flow_token?: string;
  /** What the browser answered, as JSON; or its members beside this one. */
  credential?: {};
  id?: string;
  rawId?: string;
  type?: string;
  response?: {};
  /** Not looked at. */
  authenticatorAttachment?: { [k: string]: unknown };
  /** Not looked at. */
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
  /** Empty where none is proven. */
  email: string;
  github_id?: string;
  oidc_id?: string;
  /** What the account is called elsewhere, by provider. */
  bindings?: { [k: string]: string };
  has_password?: boolean;
  group: string;
  /** What is left, in quota units; below zero: what is owed; 0 where it is unlimited. */
  quota: number;
  used_quota: number;
  /** Calls ever made, refused ones among them. */
  request_count?: number;
  unlimited_quota?: boolean;
  /** What PUT /api/user/setting keeps, as JSON text; secrets are left out. */
  setting: string;
  sidebar_modules?: string;
  permissions?: {};
  aff_code?: '';
  aff_count?: 0;
  aff_history_quota?: 0;
  aff_quota?: 0;
  discord_id?: '';
  inviter_id?: 0;
  linux_do_id?: '';
  stripe_customer?: '';
  telegram_id?: '';
  wechat_id?: '';
}
export interface OwnSession {
  sid: string;
  /** The one that asks. */
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
  /** It may use as much as it likes; the balances are what that came to. */
  unlimited: boolean;
  /** Quota units, a decimal number: what closes today. */
  balance: string;
  /** That of it which running calls have set aside. */
  held: string;
  /** What is owed since a payment went back; it is paid from what comes next. */
  debt: string;
  /** The oldest first; quota units, rounded down, and exactly. A call counts on the day on which it began. What subscriptions included is left out; of calls that an older release recorded that is not known, and days then open with too much. */
  days: {
    date: string;
    opening: number;
    credits: number;
    /** What calls cost, and what else was taken or paid. */
    debits: number;
    /** What was taken back because a payment went back. */
    refunds: number;
    closing: number;
    requests: number;
    exact: {
      opening: string;
      credits: string;
      debits: string;
      /** That of the debits which calls cost. */
      calls: string;
      refunds: string;
      closing: string;
    };
  }[];
  /** What moved money beside calls, newest first. */
  events: {
    /** Unix seconds. */
    at: number;
    /** As the log has it. */
    kind: 'top-up' | 'manage' | 'system' | 'refund';
    side: 'credit' | 'debit' | 'refund';
    /** Quota units; below zero where it was taken. */
    amount: number;
    /** The same as a decimal number. */
    exact: string;
    /** A payment provider, `redemption code`, `administrator`, `system`. */
    by: string;
    /** What names it: `top-up:` and the number of the order. */
    ref: string;
  }[];
  /** The `before` of the next page; null: this is the last. */
  next: string | null;
}
export interface OrderPage {
  page: number;
  page_size: number;
  total: number;
  items: Order[];
}
export interface TopUpInfo {
  /** POST /api/user/pay */
  enable_online_topup: boolean;
  enable_stripe_topup: boolean;
  enable_creem_topup: boolean;
  enable_alipay_topup: boolean;
  enable_waffo_topup?: false;
  enable_waffo_pancake_topup?: false;
  enable_redemption: boolean;
  payment_compliance_confirmed?: true;
  payment_compliance_terms_version?: string;
  pay_methods: { name: string; type: string; provider: string; color?: string; min_topup?: string }[];
  waffo_pay_methods?: unknown[];
  /** JSON: [{productId, name, price, currency, quota}] */
  creem_products: string;
  /** By provider: what one unit costs. */
  prices: { [k: string]: { price: string; currency: string } };
  /** By plan that is for sale, and by provider: what it costs. */
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
  /** Proven; empty where there is none. */
  email: string;
  group: string;
  /** What is left, in quota units; 0 where it is unlimited. */
  quota: number;
  used_quota: number;
  unlimited_quota: boolean;
  remark: string;
  department_id: number | null;
  department_name: string;
  has_password: boolean;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds; 0: never. */
  last_login_at: number;
  /** When it was deleted. */
  DeletedAt: string | null;
  two_factor: boolean;
  passkey: boolean;
  /** The providers it can sign in with. */
  bindings: string[];
  /** What it owes, in quota units: its calls are refused while it does. */
  debt: number;
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
  /** False where its key is empty. */
  on: boolean;
  weight: number;
  priority: number;
  /** closed: calls go there. open: none does for a while. half-open: the next one shows whether it is well again. */
  state: 'closed' | 'open' | 'half-open';
  /** Unix seconds; 0 unless it is open. */
  open_until: number;
  last_failure: {
    kind: string;
    /** The vendor's; 0 where it did not answer. */
    status: number;
    /** Unix seconds. */
    at: number;
    /** What that means, in our words. */
    message: string;
  } | null;
  recent: RecentAttempts;
  models: {
    name: string;
    /** What it is called there. */
    model: string;
    /** closed: calls go there. open: none does for a while. half-open: the next one shows whether it is well again. */
    state: 'closed' | 'open' | 'half-open';
    /** In a row, up to now. */
    failures: number;
  }[];
}
export interface ModelRoute {
  /** The public name. */
  name: string;
  /** The model behind it, where it is another name of one. */
  model: string;
  free: boolean;
  channels: { channel: string; model: string; priority: number; weight: number }[];
  fallback: string[];
  /** Decimal numbers as text; what is missing is charged as input or output. null: it has no price. */
  price: Price;
}
export interface ChannelTest {
  success: boolean;
  /** Which one was asked; empty where only its list of models was asked for. */
  model: string;
  /** The vendor's; 0 where it did not answer. */
  status: number;
  latency_ms: number;
  message: string;
}
export interface VerificationCeremony {
  verified?: false;
  /** The public key options of WebAuthn as JSON; the same once more in `publicKey`, where some tools look. */
  options: { publicKey: {}; [k: string]: unknown };
  /** Goes back with the credential; else its cookie counts. */
  flow_token: string;
  /** Unix seconds. */
  expires_at: number;
}
