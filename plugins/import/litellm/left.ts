/**
 * What of LiteLLM's database is not here: by table, column and member of `metadata`, so that what a later version adds is listed, too. Facts:
 * BerriAI/litellm 1.110.2, schema.prisma.
 */
import type { Database } from '../databases.ts';
import type { Note } from '../inventory.ts';
import { asObject, objectOf, type Row, textOf } from '../values.ts';

/** What a table is, and why its rows are not here. */
const TABLES: Readonly<Record<string, string>> = {
  _prisma_migrations: 'the versions of its database',
  LiteLLM_AgentsTable: 'agents are not supported',
  LiteLLM_AuditLog: 'the audit log is not taken over: keep the database as long as you need it',
  LiteLLM_CacheConfig: 'the section `cache` sets which answers are stored',
  LiteLLM_ClaudeCodePluginTable: 'marketplaces of plugins are not supported',
  LiteLLM_ConfigOverrides: 'settings of single services; set them in gateway.yaml',
  LiteLLM_CronJob: 'the state of its own jobs',
  LiteLLM_DailyAgentSpend: 'sums of the same calls by agent',
  LiteLLM_DailyEndUserSpend: 'sums of the same calls by end user',
  LiteLLM_DailyGlobalSpend: 'sums of the same calls',
  LiteLLM_DailyOrganizationSpend: 'sums of the same calls by organization',
  LiteLLM_DailyTagSpend: 'sums of the same calls by tag',
  LiteLLM_DailyTeamSpend: 'sums of the same calls by team',
  LiteLLM_DeletedTeamTable: 'deleted there',
  LiteLLM_DeletedVerificationToken: 'deleted there',
  LiteLLM_EndUserTable: 'the `user` of a request has no budget and no rights here',
  LiteLLM_ErrorLogs: 'failed calls are not taken over',
  LiteLLM_GuardrailsTable: 'the section `guard` has rules for requests: write them there',
  LiteLLM_HealthCheckTable: 'the state of its own checks',
  LiteLLM_InvitationLink: 'users with an email address get a link for a new password',
  LiteLLM_JWTKeyMapping: 'tokens of other issuers (JWT) do not stand for keys here',
  LiteLLM_MCPServerTable: 'MCP servers are not supported',
  LiteLLM_ManagedFileTable: 'files at vendors keep their identifiers there, not those of LiteLLM',
  LiteLLM_ManagedObjectTable: 'batches at vendors keep their identifiers there, not those of LiteLLM',
  LiteLLM_ManagedVectorStoresTable: 'vector stores are not supported',
  LiteLLM_MemoryTable: 'memories are not supported',
  LiteLLM_ModelAccessGroupBudgetTable: 'groups of models have no budget here',
  LiteLLM_ObjectPermissionTable: 'MCP servers, vector stores and agents are not supported, nor are rights to them',
  LiteLLM_OrganizationMembership: 'organizations are not supported: their teams are departments of their own',
  LiteLLM_OrganizationTable: 'their budgets and models are not taken over: their teams are departments of their own',
  LiteLLM_PolicyAttachmentTable: 'policies of guardrails are not supported',
  LiteLLM_PolicyTable: 'policies of guardrails are not supported',
  LiteLLM_PromptTable: 'the section `prompts` has templates: write them there',
  LiteLLM_ProxyWorkerHeartbeat: 'the state of its own processes',
  LiteLLM_SearchToolsTable: 'search tools are not supported',
  LiteLLM_SkillsTable: 'skills are not supported',
  LiteLLM_SpendLogGuardrailIndex: 'an index of recorded calls',
  LiteLLM_SpendLogToolIndex: 'an index of recorded calls',
  LiteLLM_TagTable: 'tags of requests have no budget here, and choose no model',
  LiteLLM_UISettings: 'settings of its own pages',
  LiteLLM_UserNotifications: 'requests of users to its administrators',
};
/** Tables without which calls are answered otherwise. */
const DECIDE = new Set([
  'LiteLLM_GuardrailsTable',
  'LiteLLM_JWTKeyMapping',
  'LiteLLM_OrganizationTable',
  'LiteLLM_PolicyTable',
]);
/** Tables that are read when they are asked for. */
const HISTORY: Readonly<Record<string, string>> = {
  LiteLLM_SpendLogs:
    'recorded calls stay there; `--prove` computes the newest again, and `--history` takes over sums by day',
  LiteLLM_DailyUserSpend: 'sums by day are taken over with `--history`',
};

/** A note for each table with rows that nothing here reads. */
export async function tablesLeft(database: Database): Promise<readonly Note[]> {
  const unread = await database.unread(Object.keys(HISTORY));
  const rows = await database.tables();
  const history = Object.keys(HISTORY).flatMap((table) => {
    const count = rows.get(table) ?? 0;
    return count === 0 ? [] : [{ kind: 'left' as const, where: table, what: table, why: HISTORY[table]!, count }];
  });
  const others = [...unread].map(([table, count]): Note => {
    const why = TABLES[table] ?? 'this version does not know the table';
    return { kind: DECIDE.has(table) ? 'decide' : 'left', where: table, what: table, why, count };
  });
  return [...history, ...others];
}

/** Columns that are read, or only describe a row; and why others are not here. */
interface Known {
  readonly read: ReadonlySet<string>;
  readonly why: Readonly<Record<string, string>>;
  /** Members of `metadata` that are read. */
  readonly metadata?: ReadonlySet<string>;
}

/** Who changed a row and when, and sums that are computed from recorded calls. */
const DESCRIPTIONS = [
  ...['created_at', 'created_by', 'updated_at', 'updated_by', 'settings_updated_at', 'last_active', 'model_spend'],
  ...['total_spend', 'budget_reset_at', 'soft_budget_cooldown', 'rotation_count', 'last_rotation_at', 'policies'],
];
const LIMITS = [
  ...['max_budget', 'spend', 'budget_duration', 'budget_id', 'rpm_limit', 'tpm_limit', 'tpd_limit', 'soft_budget'],
  ...['max_parallel_requests', 'model_max_budget', 'budget_limits', 'metadata', 'models', 'blocked'],
];
const GUARDED = 'guardrails and policies are not taken over: its calls are not checked by them here';
const PERMITTED = 'MCP servers, vector stores and agents are not supported, nor are rights to them';
const NO_ROTATION = 'keys are not replaced by themselves here';

export const KNOWN: Readonly<Record<string, Known>> = {
  LiteLLM_VerificationToken: {
    read: new Set([
      ...DESCRIPTIONS.filter((column) => column !== 'policies'),
      ...LIMITS,
      ...[
        'token',
        'key_name',
        'key_alias',
        'expires',
        'aliases',
        'user_id',
        'team_id',
        'project_id',
        'access_group_ids',
      ],
      ...['allowed_routes', 'key_type'],
    ]),
    metadata: new Set(['model_rpm_limit', 'model_tpm_limit', 'model_max_parallel_requests', 'service_account_id']),
    why: {
      policies: GUARDED,
      permissions: 'a key here has no rights to manage anything',
      config: 'a key has no configuration of its own here',
      router_settings: 'a key has no routing of its own here',
      agent_id: 'agents are not supported',
      organization_id: 'organizations are not supported; their budget does not limit it here',
      object_permission_id: PERMITTED,
      budget_fallbacks: 'a call beyond a budget is refused here',
      allowed_cache_controls: 'clients cannot control the cache of answers here',
      auto_rotate: NO_ROTATION,
      rotation_interval: NO_ROTATION,
      key_rotation_at: NO_ROTATION,
    },
  },
  LiteLLM_TeamTable: {
    read: new Set([
      ...DESCRIPTIONS.filter((column) => column !== 'policies'),
      ...LIMITS,
      ...['team_id', 'team_alias', 'members', 'admins', 'members_with_roles', 'access_group_ids', 'model_id'],
    ]),
    metadata: new Set(['model_rpm_limit', 'model_tpm_limit']),
    why: {
      policies: GUARDED,
      organization_id: 'organizations are not supported; their budget does not limit it here',
      object_permission_id: PERMITTED,
      router_settings: 'a department has no routing of its own here',
      team_member_permissions: 'members of a department manage their own keys',
      default_team_member_models: 'members of a department have no list of models',
    },
  },
  LiteLLM_UserTable: {
    read: new Set([
      ...DESCRIPTIONS.filter((column) => column !== 'policies'),
      ...LIMITS,
      ...['user_id', 'user_alias', 'user_email', 'user_role', 'password', 'sso_user_id', 'teams', 'team_id'],
      ...['last_breach_check_at'],
    ]),
    metadata: new Set([]),
    why: {
      policies: GUARDED,
      organization_id: 'organizations are not supported; their budget does not limit it here',
      object_permission_id: PERMITTED,
      password_reset_required: 'the password goes on working here',
      allowed_cache_controls: 'clients cannot control the cache of answers here',
    },
  },
};

/** Why members of `metadata` are not here. */
const METADATA: Readonly<Record<string, string>> = {
  tags: 'calls have no tags here',
  guardrails: GUARDED,
  policies: GUARDED,
  disable_global_guardrails: GUARDED,
  logging: 'the sections `events` and `telemetry` send usage to other services, for all keys',
  allowed_ips: 'LiteLLM does not check it either',
  temp_budget_increase: 'a budget is not raised for a time here',
};
const GUARDS = /^(?:guardrails|policies|permissions)$/;

/** A note for each column and member of `metadata` that has something, and that nothing here reads. */
export function columnsLeft(table: string, rows: readonly Row[], nameOf: (row: Row) => string): readonly Note[] {
  const { read, why, metadata } = KNOWN[table]!;
  return rows.flatMap((row) => {
    const note = (field: string, reason: string): Note => ({
      kind: GUARDS.test(field.slice(field.lastIndexOf('.') + 1)) ? 'decide' : 'left',
      where: `${table}.${field}`,
      what: nameOf(row),
      why: reason,
    });
    return [
      ...Object.entries(row).flatMap(([column, value]) =>
        read.has(column) || isEmpty(value) ? [] : [note(column, why[column] ?? 'nothing here reads it')],
      ),
      ...Object.entries(objectOf(row, 'metadata')).flatMap(([member, value]) =>
        metadata?.has(member) || isEmpty(value)
          ? []
          : [note(`metadata.${member}`, METADATA[member] ?? 'nothing here reads it')],
      ),
    ];
  });
}

/** Nothing, in any of the ways in which a column says so. */
function isEmpty(value: unknown): boolean {
  if (
    value === null ||
    value === undefined ||
    value === false ||
    value === 0 ||
    value === '' ||
    value === '{}' ||
    value === '[]'
  )
    return true;
  return typeof value === 'object' && Object.keys(Array.isArray(value) ? value : asObject(value)).length === 0;
}

/** The name of a row for the report. */
export function titleOf(row: Row, alias: string, id: string): string {
  return textOf(row, alias) ?? textOf(row, id) ?? '?';
}
