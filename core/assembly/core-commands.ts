/** The commands of core, in words. */
import type { Command } from '../plugin.ts';

/** A command definition for parsing. */
export type CommandWords = Omit<Command, 'run'>;

/** The built-in commands. All but `reconcile`, `backup` and `explain` need no gateway, or start one. */
export const CORE_COMMANDS = {
  start: {
    name: 'start',
    summary:
      'starts the gateway and creates the database on the first start; SIGTERM drains, SIGHUP reloads gateway.yaml',
    // `npm start` sets it: prints the first-start secrets for a person.
    options: { welcome: { type: 'boolean', internal: true } },
    plain: true,
  },
  init: {
    name: 'init',
    summary: 'writes an annotated gateway.yaml, and a .env for its secrets, into a folder; overwrites nothing',
    options: { url: { type: 'string', value: 'https://HOST' } },
    positionals: ['[FOLDER]'],
  },
  check: { name: 'check', summary: 'validates gateway.yaml and prints the effective configuration, or all its errors' },
  configCheck: { name: 'config check', summary: 'the same with the configuration and the secrets in the database' },
  configExport: {
    name: 'config export',
    summary: 'prints the configuration; `config: store`: the text in the database, without listen and store',
    plain: true,
  },
  configImport: {
    name: 'config import',
    summary: 'checks a configuration, replaces the current one by it, and loads it',
    positionals: ['FILE'],
  },
  secretSet: {
    name: 'config secret set',
    summary: 'sets or replaces a secret of the configuration, and loads it',
    options: { 'value-stdin': { type: 'boolean', required: true } },
    positionals: ['NAME'],
  },
  secretList: { name: 'config secret list', summary: 'lists the secrets of the configuration, and where it uses them' },
  secretDelete: {
    name: 'config secret delete',
    summary: 'deletes a secret that the configuration does not use',
    positionals: ['NAME'],
  },
  errors: { name: 'errors', summary: 'lists the errors of core and the plugins: status, code, meaning' },
  schema: {
    name: 'schema',
    summary:
      'writes the JSON Schema of gateway.yaml to a file, by default core/schema.json of the installation; `-` prints it',
    positionals: ['[FILE|-]'],
    plain: true,
  },
  restore: { name: 'restore', summary: 'replaces the database with a backup', positionals: ['FILE'] },
  copy: {
    name: 'store copy',
    summary: 'copies the database to another kind of store and verifies the copy; the gateway must be stopped',
    options: { to: { type: 'string', value: 'URL|FILE', required: true } },
  },
  recover: {
    name: 'recover',
    summary:
      'creates a new master key, deletes the secrets that were sealed with the lost one, and keeps everything else',
    options: { 'without-master-key': { type: 'boolean', required: true } },
  },
  plugin: {
    name: 'plugin new',
    summary: 'creates the folder of a new plugin, with a passing test',
    options: { kind: { type: 'string', value: 'vendor|style|guard|route', required: true } },
    positionals: ['NAME'],
  },
  doctor: {
    name: 'doctor',
    summary:
      'examines clock, disk, files, TLS, proxies, store, backups, vendors and mail server, and says what to do; exit code 1 if there is a problem',
  },
  upgrade: {
    name: 'upgrade',
    summary:
      'after a new version was installed: backs up, tests the version on a copy, migrates a stopped gateway; on failure nothing changes',
    options: { 'dry-run': { type: 'boolean' } },
  },
  help: { name: 'help', summary: 'lists the commands; `help COMMAND` explains one, `help key` those of a group' },
  completion: {
    name: 'completion',
    summary: 'prints the completion of commands, options and values for a shell: `source <(turnpike completion bash)`',
    positionals: ['SHELL'],
    plain: true,
  },
  version: { name: 'version', summary: 'prints the version' },
  reconcile: {
    name: 'reconcile',
    summary: 'checks the invariants of the accounting, one line each; exit code 1 if one fails',
  },
  // Before `backup`, whose FILE they would be.
  backupNow: {
    name: 'backup now',
    summary: 'makes a scheduled backup now: stores it as the section `backup` says, and proves it by a restore',
  },
  backupList: { name: 'backup list', summary: 'lists the stored backups, newest first' },
  backupFetch: {
    name: 'backup fetch',
    summary: 'writes a stored backup to a file, decrypted, for `turnpike restore`',
    positionals: ['NAME', 'FILE'],
  },
  backupProve: {
    name: 'backup prove',
    summary: 'proves a backup file: restores it into a scratch database, migrates that, and checks all invariants',
    positionals: ['FILE'],
  },
  backup: {
    name: 'backup',
    summary: 'writes a consistent copy of the database; the gateway may be running',
    positionals: ['FILE'],
  },
  explain: {
    name: 'explain',
    summary: 'explains how a call would be handled, without making it; exit code 1 if it would be refused',
    options: {
      key: { type: 'string', value: 'KEY|-', required: true },
      style: { type: 'string', required: true },
      body: { type: 'string', value: 'FILE|-', required: true },
      files: { type: 'string', value: 'FIELD=FILE,…' },
    },
  },
} as const satisfies Readonly<Record<string, CommandWords>>;
