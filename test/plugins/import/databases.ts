/** Databases of other gateways, as the migrations of three of their versions each make them. */
import { readFileSync } from 'node:fs';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';

/** The tables of a version, and columns that it adds to those of the version before. */
interface Version {
  readonly name: string;
  readonly sql: string;
}

const ONE_API_FIRST = `
  CREATE TABLE \`users\` (\`id\` integer,\`username\` text UNIQUE,\`password\` text NOT NULL,\`display_name\` text,
    \`role\` int DEFAULT 1,\`status\` int DEFAULT 1,\`email\` text,\`github_id\` text,\`wechat_id\` text,
    \`access_token\` char(32),\`quota\` int DEFAULT 0,PRIMARY KEY (\`id\`));
  CREATE TABLE \`tokens\` (\`id\` integer,\`user_id\` integer,\`key\` char(32),\`status\` integer DEFAULT 1,\`name\` text,
    \`created_time\` bigint,\`accessed_time\` bigint,\`expired_time\` bigint DEFAULT -1,\`remain_quota\` integer DEFAULT 0,
    \`unlimited_quota\` numeric DEFAULT false,PRIMARY KEY (\`id\`));
  CREATE TABLE \`channels\` (\`id\` integer,\`type\` integer DEFAULT 0,\`key\` text NOT NULL,\`status\` integer DEFAULT 1,
    \`name\` text,\`weight\` integer,\`created_time\` bigint,\`test_time\` bigint,\`response_time\` integer,\`base_url\` text,
    \`other\` text,\`balance\` real,\`balance_updated_time\` bigint,\`models\` text,PRIMARY KEY (\`id\`));
  CREATE TABLE \`options\` (\`key\` text,\`value\` text,PRIMARY KEY (\`key\`));`;
const ONE_API_GROUPS = `
  ALTER TABLE users ADD COLUMN \`used_quota\` int DEFAULT 0;
  ALTER TABLE users ADD COLUMN \`request_count\` int DEFAULT 0;
  ALTER TABLE users ADD COLUMN \`group\` varchar(32) DEFAULT "default";
  ALTER TABLE users ADD COLUMN \`aff_code\` varchar(32);
  ALTER TABLE users ADD COLUMN \`inviter_id\` int;
  ALTER TABLE channels ADD COLUMN \`group\` varchar(32) DEFAULT "default";
  ALTER TABLE channels ADD COLUMN \`used_quota\` bigint DEFAULT 0;
  ALTER TABLE channels ADD COLUMN \`model_mapping\` varchar(1024) DEFAULT "";
  CREATE TABLE \`abilities\` (\`group\` varchar(32),\`model\` text,\`channel_id\` integer,\`enabled\` numeric,
    PRIMARY KEY (\`group\`,\`model\`,\`channel_id\`));
  CREATE TABLE \`redemptions\` (\`id\` integer,\`user_id\` integer,\`key\` char(32),\`status\` integer DEFAULT 1,\`name\` text,
    \`quota\` integer DEFAULT 100,\`created_time\` bigint,\`redeemed_time\` bigint,PRIMARY KEY (\`id\`));`;
const ONE_API_LATE = `
  ALTER TABLE channels ADD COLUMN \`priority\` bigint DEFAULT 0;
  ALTER TABLE channels ADD COLUMN \`config\` text;
  ALTER TABLE channels ADD COLUMN \`system_prompt\` text;
  ALTER TABLE tokens ADD COLUMN \`used_quota\` bigint DEFAULT 0;
  ALTER TABLE tokens ADD COLUMN \`models\` text;
  ALTER TABLE tokens ADD COLUMN \`subnet\` text DEFAULT "";
  ALTER TABLE users ADD COLUMN \`lark_id\` text;
  ALTER TABLE users ADD COLUMN \`oidc_id\` text;`;

const NEW_API_FIRST = `${ONE_API_FIRST}${ONE_API_GROUPS}
  ALTER TABLE channels ADD COLUMN \`priority\` bigint DEFAULT 0;
  ALTER TABLE channels ADD COLUMN \`openai_organization\` text;
  ALTER TABLE channels ADD COLUMN \`auto_ban\` integer DEFAULT 1;
  ALTER TABLE tokens ADD COLUMN \`used_quota\` integer DEFAULT 0;
  ALTER TABLE tokens ADD COLUMN \`model_limits_enabled\` numeric DEFAULT false;
  ALTER TABLE tokens ADD COLUMN \`model_limits\` varchar(1024) DEFAULT "";`;
const NEW_API_DELETED = `
  ALTER TABLE users ADD COLUMN \`aff_count\` int DEFAULT 0;
  ALTER TABLE users ADD COLUMN \`aff_quota\` int DEFAULT 0;
  ALTER TABLE users ADD COLUMN \`aff_history\` int DEFAULT 0;
  ALTER TABLE users ADD COLUMN \`deleted_at\` datetime;
  ALTER TABLE users ADD COLUMN \`setting\` text;
  ALTER TABLE tokens ADD COLUMN \`deleted_at\` datetime;
  ALTER TABLE tokens ADD COLUMN \`allow_ips\` text DEFAULT "";
  ALTER TABLE tokens ADD COLUMN \`group\` text DEFAULT "";
  ALTER TABLE channels ADD COLUMN \`status_code_mapping\` varchar(1024) DEFAULT "";
  ALTER TABLE channels ADD COLUMN \`tag\` text;
  ALTER TABLE channels ADD COLUMN \`setting\` text;
  ALTER TABLE channels ADD COLUMN \`param_override\` text;
  ALTER TABLE redemptions ADD COLUMN \`deleted_at\` datetime;`;
const NEW_API_LATE = `
  ALTER TABLE users ADD COLUMN \`remark\` varchar(255);
  ALTER TABLE users ADD COLUMN \`stripe_customer\` varchar(64);
  ALTER TABLE users ADD COLUMN \`created_at\` bigint;
  ALTER TABLE users ADD COLUMN \`last_login_at\` bigint DEFAULT 0;
  ALTER TABLE tokens ADD COLUMN \`cross_group_retry\` numeric;
  ALTER TABLE channels ADD COLUMN \`header_override\` text;
  ALTER TABLE channels ADD COLUMN \`remark\` varchar(255);
  ALTER TABLE channels ADD COLUMN \`channel_info\` json;
  ALTER TABLE channels ADD COLUMN \`settings\` text;`;

export const ONE_API_VERSIONS: readonly Version[] = [
  { name: 'one-api 0.3', sql: ONE_API_FIRST },
  { name: 'one-api 0.5', sql: ONE_API_FIRST + ONE_API_GROUPS },
  { name: 'one-api 0.6.10', sql: ONE_API_FIRST + ONE_API_GROUPS + ONE_API_LATE },
];

export const NEW_API_VERSIONS: readonly Version[] = [
  { name: 'new-api 0.2', sql: NEW_API_FIRST },
  { name: 'new-api 0.6', sql: NEW_API_FIRST + NEW_API_DELETED },
  { name: 'new-api 0.9', sql: NEW_API_FIRST + NEW_API_DELETED + NEW_API_LATE },
];

/** A row by column; columns that a version lacks are left out when it is written. */
export type TestRow = Readonly<Record<string, string | number | null>>;

/** Makes a SQLite file of a version with these rows, by table. */
export function makeSqlite(file: string, { sql }: Version, tables: Readonly<Record<string, readonly TestRow[]>>): void {
  const db = new Database(file);
  db.exec(sql);
  for (const [table, rows] of Object.entries(tables)) {
    const columns = (db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[]).map(
      ({ name }) => name,
    );
    if (columns.length === 0) continue;
    for (const row of rows) {
      const used = Object.entries(row).filter(([column]) => columns.includes(column));
      db.prepare(
        `INSERT INTO ${table} (${used.map(([column]) => `"${column}"`).join(', ')}) VALUES (${used.map(() => '?').join(', ')})`,
      ).run(...used.map(([, value]) => value));
    }
  }
  db.close();
}

/** Changes such a file. */
export function changeSqlite(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

/** What an import has said: every line of its report file, and what it printed. */
export function fullReport(printed: string): string {
  const file = /^every line: (.+)$/m.exec(printed)?.[1];
  if (file === undefined) throw new Error(`the report names no file: ${printed}`);
  return `${readFileSync(file, 'utf8')}\n${printed.trimEnd()}`;
}

/** The lines of a file. */
export function lines(file: string): readonly string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

const LITELLM_FIRST = `
  CREATE TABLE "LiteLLM_BudgetTable" ("budget_id" TEXT NOT NULL PRIMARY KEY, "max_budget" DOUBLE PRECISION,
    "soft_budget" DOUBLE PRECISION, "max_parallel_requests" INTEGER, "tpm_limit" BIGINT, "rpm_limit" BIGINT,
    "model_max_budget" JSONB, "budget_duration" TEXT, "budget_reset_at" TIMESTAMP(3),
    "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "created_by" TEXT NOT NULL,
    "updated_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "updated_by" TEXT NOT NULL);
  CREATE TABLE "LiteLLM_TeamTable" ("team_id" TEXT NOT NULL PRIMARY KEY, "team_alias" TEXT, "organization_id" TEXT,
    "admins" TEXT[], "members" TEXT[], "members_with_roles" JSONB NOT NULL DEFAULT '{}', "metadata" JSONB NOT NULL DEFAULT '{}',
    "max_budget" DOUBLE PRECISION, "spend" DOUBLE PRECISION NOT NULL DEFAULT 0.0, "models" TEXT[],
    "max_parallel_requests" INTEGER, "tpm_limit" BIGINT, "rpm_limit" BIGINT, "budget_duration" TEXT,
    "budget_reset_at" TIMESTAMP(3), "blocked" BOOLEAN NOT NULL DEFAULT false);
  CREATE TABLE "LiteLLM_UserTable" ("user_id" TEXT NOT NULL PRIMARY KEY, "team_id" TEXT, "organization_id" TEXT,
    "teams" TEXT[] DEFAULT ARRAY[]::TEXT[], "user_role" TEXT, "max_budget" DOUBLE PRECISION,
    "spend" DOUBLE PRECISION NOT NULL DEFAULT 0.0, "user_email" TEXT, "models" TEXT[], "max_parallel_requests" INTEGER,
    "tpm_limit" BIGINT, "rpm_limit" BIGINT, "budget_duration" TEXT, "budget_reset_at" TIMESTAMP(3),
    "model_spend" JSONB NOT NULL DEFAULT '{}', "model_max_budget" JSONB NOT NULL DEFAULT '{}');
  CREATE TABLE "LiteLLM_VerificationToken" ("token" TEXT NOT NULL PRIMARY KEY, "key_name" TEXT, "key_alias" TEXT,
    "spend" DOUBLE PRECISION NOT NULL DEFAULT 0.0, "expires" TIMESTAMP(3), "models" TEXT[],
    "aliases" JSONB NOT NULL DEFAULT '{}', "config" JSONB NOT NULL DEFAULT '{}', "user_id" TEXT, "team_id" TEXT,
    "permissions" JSONB NOT NULL DEFAULT '{}', "max_parallel_requests" INTEGER, "metadata" JSONB NOT NULL DEFAULT '{}',
    "tpm_limit" BIGINT, "rpm_limit" BIGINT, "max_budget" DOUBLE PRECISION, "budget_duration" TEXT,
    "budget_reset_at" TIMESTAMP(3), "model_spend" JSONB NOT NULL DEFAULT '{}', "model_max_budget" JSONB NOT NULL DEFAULT '{}');`;
const LITELLM_BUDGETS = `
  ALTER TABLE "LiteLLM_VerificationToken" ADD COLUMN "blocked" BOOLEAN;
  ALTER TABLE "LiteLLM_VerificationToken" ADD COLUMN "budget_id" TEXT REFERENCES "LiteLLM_BudgetTable"("budget_id");
  ALTER TABLE "LiteLLM_UserTable" ADD COLUMN "user_alias" TEXT;
  ALTER TABLE "LiteLLM_UserTable" ADD COLUMN "password" TEXT;
  CREATE TABLE "LiteLLM_ProxyModelTable" ("model_id" TEXT NOT NULL PRIMARY KEY, "model_name" TEXT NOT NULL,
    "litellm_params" JSONB NOT NULL, "model_info" JSONB);`;
const LITELLM_LATE = `
  ALTER TABLE "LiteLLM_VerificationToken" ADD COLUMN "agent_id" TEXT, ADD COLUMN "project_id" TEXT,
    ADD COLUMN "created_at" TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP, ADD COLUMN "last_active" TIMESTAMP(3),
    ADD COLUMN "rotation_count" INTEGER DEFAULT 0, ADD COLUMN "auto_rotate" BOOLEAN DEFAULT false, ADD COLUMN "budget_limits" JSONB;
  ALTER TABLE "LiteLLM_UserTable" ADD COLUMN "sso_user_id" TEXT, ADD COLUMN "policies" TEXT[] DEFAULT ARRAY[]::TEXT[];
  ALTER TABLE "LiteLLM_TeamTable" ADD COLUMN "soft_budget" DOUBLE PRECISION, ADD COLUMN "budget_limits" JSONB;`;

export const LITELLM_VERSIONS: readonly Version[] = [
  { name: 'LiteLLM 1.30', sql: LITELLM_FIRST },
  { name: 'LiteLLM 1.55', sql: LITELLM_FIRST + LITELLM_BUDGETS },
  { name: 'LiteLLM 1.80', sql: LITELLM_FIRST + LITELLM_BUDGETS + LITELLM_LATE },
];
