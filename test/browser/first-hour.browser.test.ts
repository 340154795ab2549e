/** The first hour, as scripts/deploy/first-hour.md tells it: its commands in a shell, its clicks in a browser, and what must be so after each. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generate } from 'otplib';
import type { Browser, Locator, Page } from 'playwright-core';
import { findProgram, type ServerProcess, startServer } from '../../scripts/cluster/programs.ts';
import { freePort } from '../../scripts/free-port.ts';
import { installEnv, releaseTurnpike, shellEnv, takeOverSqlite } from '../e2e/authors/packed.ts';
import { block, run, page as textOf } from '../e2e/documents/readme-kit.ts';
import { type Receiver, startReceiver } from '../kit/clients/receiver.ts';
import { assertClean, becomes, type Onlooker, onlooker, startBrowser } from '../kit/console/browser.ts';
import { parseMetrics } from '../kit/stand-ins/prometheus.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, wholeAnswer } from '../kit/vendors/script.ts';

const nginx = findProgram('nginx');

/** The key with which calls fail. */
let failing: string | undefined;
/** A vendor that knows one key and lists these models. A call costs some of the budget in the walk, and not all of it. */
const vendorWith = (key: string, models: readonly string[]): Promise<FakeVendor> =>
  fakeVendor(({ headers, path }) => {
    if (headers.authorization !== `Bearer ${key}`) return errorAnswer(401);
    if (path !== '/v1/models')
      return key === failing ? errorAnswer(500) : wholeAnswer({ usage: { prompt: 10, completion: 400 } });
    return jsonAnswer(200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
  });

describe('the first hour', { skip: nginx === undefined && 'nginx is not installed' }, () => {
  const place = mkdtempSync(join(tmpdir(), 'turnpike-first-hour-'));
  const dir = join(place, 'turnpike');
  let tarball: string;
  let origin: string;
  let ports: { readonly http: number; readonly https: number; readonly gateway: number };
  let openai: FakeVendor;
  let openrouter: FakeVendor;
  let webhook: Receiver;
  let collector: Receiver;
  let proxy: ServerProcess;
  let gateway: Started;
  let browser: Browser;
  let at: Onlooker;
  let page: Page;
  let codes: readonly string[];
  before(async () => {
    ports = { http: await freePort(), https: await freePort(), gateway: await freePort() };
    origin = `https://localhost:${ports.https}`;
    [openai, openrouter, webhook, collector] = await Promise.all([
      vendorWith('sk-first', ['gpt-5', 'gpt-5-mini', 'gpt-6']),
      vendorWith('sk-second', ['openai/gpt-5-mini', 'other/model']),
      startReceiver(),
      startReceiver(),
    ]);
    mkdirSync(join(place, 'nginx/conf.d'), { recursive: true });
    writeFileSync(
      join(place, 'nginx/nginx.conf'),
      `pid ${place}/nginx/pid; error_log ${place}/nginx/error.log; daemon off; events {}
       http { access_log off; include ${place}/nginx/conf.d/*.conf; }`,
    );
    const runs = async () => existsSync(join(place, 'nginx/pid'));
    proxy = await startServer([nginx!, '-c', join(place, 'nginx/nginx.conf')], runs);
    ({ tarball } = await releaseTurnpike());
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await proxy?.stop();
    await Promise.all([openai, openrouter, webhook, collector].map((each) => each?.close()));
    rmSync(place, { recursive: true, force: true });
  });

  /** The text with what this machine has in the place of what the page names. */
  const here = (text: string): string =>
    text
      .replaceAll('https://gateway.example.com', origin)
      .replaceAll('gateway.example.com', 'localhost')
      .replaceAll('/etc/nginx', join(place, 'nginx'))
      .replaceAll(/…\/turnpike-gateway\S+\.tgz/g, tarball)
      .replaceAll('https://ops.example.com', webhook.url);
  /** Runs a block in the second terminal, and prints what it prints. */
  async function shell(code: string, before = here(block('first-hour-terminal'))): Promise<string> {
    const commands = [
      'set -e -o pipefail',
      'sudo() { "$@"; }',
      `nginx() { ${nginx} -c ${place}/nginx/nginx.conf "$@"; }`,
      before,
      here(code),
    ];
    return (await run('bash', ['-c', commands.join('\n')], { cwd: place, env: installEnv })).stdout;
  }
  const button = (name: string, within: Pick<Locator, 'getByRole'> = page): Locator =>
    within.getByRole('button', { name, exact: true });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name, exact: true });
  const go = (name: string): Promise<void> =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

  it('installs the package, and puts nginx with TLS in front of it', async () => {
    await shell(block('first-hour-install'), '');
    takeOverSqlite(dir);
    const config = join(dir, 'gateway.yaml');
    const text = readFileSync(config, 'utf8');
    assert.match(text, new RegExp(`^ {2}url: ${origin} `, 'm'));
    const own = text.replace('port: 8080', `port: ${ports.gateway}`);
    const telemetry = `telemetry: { endpoint: ${collector.url} }\n`;
    writeFileSync(config, own.replace(/^( +)vendor: openai$/m, `$&\n$1url: ${openai.url}`) + telemetry);
    // Ports and folders of its own, on a machine that others use.
    const changes = [
      `s/:8080/:${ports.gateway}/`,
      `s/listen 80;/listen ${ports.http};/`,
      `s/listen 443/listen ${ports.https}/`,
      `s#/etc/nginx#${place}/nginx#`,
    ];
    writeFileSync(join(place, 'own.sed'), changes.join('\n'));
    await shell(block('first-hour-nginx').replace("sed '", "sed -f ../own.sed -e '"), 'cd turnpike');
  });

  it('starts, and root signs in and sets up a second factor', async () => {
    gateway = await startInstalled(dir, block('first-hour-start'));
    at = await onlooker(browser, { origin }, undefined);
    page = at.page;
    await at.open('/');
    await page.getByLabel('Name or email address').fill('root');
    await page.getByLabel('Password', { exact: true }).fill(gateway.first.rootPassword);
    await button('Sign in').click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await go('Security');
    await page.getByText('Authenticator app', { exact: true }).waitFor();
    await button('Set up').click();
    const setup = dialog('Set up an authenticator app');
    const secret = ((await setup.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await setup.getByLabel('Current code from the app').fill(await generate({ secret }));
    await button('Enable', setup).click();
    const kept = dialog('Keep your backup codes');
    codes = ((await kept.locator('pre').textContent()) ?? '').split('\n');
    await kept.getByLabel('I have saved them').check();
    await button('Done', kept).click();
  });

  it('adds two vendors, and serves one model from both', async () => {
    await go('Home');
    await page.getByRole('link', { name: 'Add a vendor', exact: true }).click();
    const drawer = dialog('Add a vendor');
    const add = async (vendor: string, key: string): Promise<void> => {
      await drawer.getByRole('combobox', { name: 'Vendor', exact: true }).click();
      await page.getByRole('option', { name: vendor, exact: true }).click();
      await drawer.getByLabel('API key', { exact: true }).fill(key);
    };
    await add('OpenAI', 'sk-first');
    await button('Connect', drawer).click();
    // Each code of the app is good once: a backup code stands in for the next.
    const check = dialog('Confirm it’s you');
    await check.getByLabel('Authenticator code').fill(codes[0]!);
    await button('Continue', check).click();
    await button('Test gpt-5', drawer).click();
    await drawer.getByText('The vendor answered.').waitFor();
    const save = async (within: Locator): Promise<void> => {
      await button('Review and save', within).click();
      await button('Save and load', dialog(/^(Review and save|Add a vendor)$/)).click();
    };
    await save(drawer);
    await drawer.getByText('openai is serving').waitFor();
    await button('Done', drawer).click();

    await button('Add a vendor').click();
    await add('Compatible', 'sk-second');
    await drawer.getByLabel('Base URL').fill(openrouter.url);
    await drawer.getByLabel('Channel name').fill('openrouter');
    await button('Connect', drawer).click();
    await drawer.getByLabel('openai/gpt-5-mini').check();
    await button('Review and save', drawer).click();
    await drawer.getByText('Models without a price').waitFor();
    await drawer.getByText(/has no price and is not free/).waitFor();
    assertClean('with a warning', await at.violations(drawer));
    await button('Back', drawer).click();
    await drawer.getByLabel('One price for all of them').check();
    await drawer.getByLabel('Input', { exact: true }).fill('0.25');
    await drawer.getByLabel('Output', { exact: true }).fill('2');
    await save(drawer);
    await drawer.getByText('Clients can call: openai/gpt-5-mini.').waitFor();
    await becomes(() => drawer.getByText('Models without a price').count(), 0);
    await button('Done', drawer).click();

    await page.getByRole('radiogroup', { name: 'Section' }).getByText('Models', { exact: true }).click();
    await button('gpt-5-mini').click();
    const model = dialog('gpt-5-mini');
    await button('Add a channel', model).click();
    await becomes(
      () => model.getByRole('combobox', { name: 'Channel', exact: true }).nth(1).inputValue(),
      'openrouter',
    );
    await model.getByLabel('Upstream model').nth(1).fill('openai/gpt-5-mini');
    await button('Apply', model).click();
    await model.waitFor({ state: 'hidden' });
    await button('Review and save').click();
    await dialog('Review and save')
      .getByText(/has no price and is not free/)
      .waitFor();
    await button('Cancel', dialog('Review and save')).click();
    await button('gpt-5-mini changed').click();
    const price = model.getByRole('group', { name: 'Price', exact: true });
    await price.getByLabel('Input', { exact: true }).fill('0.25');
    await price.getByLabel('Output', { exact: true }).fill('2');
    await button('Apply', model).click();
    await model.waitFor({ state: 'hidden' });
    await save(page.locator('main'));
    await dialog('Review and save').waitFor({ state: 'hidden' });
  });

  it('answers calls through TLS, from each vendor', async () => {
    await shell(block('first-hour-user'));
    const call = async (): Promise<readonly (string | undefined)[]> => {
      const answers = [...(await shell(block('first-hour-call'))).matchAll(/^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n/gm)];
      return answers.map(([head, status]) => `${status} ${/^x-turnpike-channel: (.*)\r$/m.exec(head)?.[1]}`);
    };
    const [first, second, either, ...more] = await call();
    assert.deepEqual([first, second, more], ['200 openai', '200 openrouter', []]);
    failing = either === first ? 'sk-first' : 'sk-second';
    assert.equal((await call()).at(-1), either === first ? second : first, 'the other answers if one fails');
    failing = undefined;
  });

  it('creates a department, and turns on alerts, metrics and backups: a test message comes', async () => {
    await go('Departments');
    await button('Team with a budget').click();
    const form = dialog('Team with a budget');
    await form.getByRole('textbox', { name: 'Name' }).fill('Research');
    await form.getByRole('textbox', { name: 'Monthly budget' }).fill('0.005');
    await form.getByRole('combobox', { name: 'Members' }).fill('ann');
    await page.getByRole('option', { name: 'ann', exact: true }).click();
    await page.keyboard.press('Escape');
    await button('Create team', form).click();
    await dialog('Research').getByText('Its members can spend $0.0050 more before calls are refused.').waitFor();
    await page.keyboard.press('Escape');
    await shell(block('first-hour-token'));

    await go('Config');
    await page.getByRole('tab', { name: 'Edit file' }).click();
    const field = page.getByLabel('Draft of gateway.yaml');
    await field.fill(`${await field.inputValue()}\n${here(block('first-hour-config'))}`);
    await button('Review and save').click();
    await button('Save and load', dialog('Review and save')).click();
    await page
      .getByText(/Saved as version \d+/)
      .first()
      .waitFor();
    await go('Alerts');
    await button('Send test message').click();
    await page.getByText('webhook: accepted').waitFor();
    assert.match(String(webhook.received[0]?.body), /This is a test of the alerts/);
  });

  it('refuses the call beyond the budget, and the alert comes', async () => {
    const asked = (): number => openai.requests.length + openrouter.requests.length;
    const before = asked();
    assert.match(await shell(block('first-hour-budget')), /"QUOTA_DEPARTMENT_EXCEEDED"[\s\S]*\n403\n$/);
    assert.ok(asked() > before, 'calls were answered before');
    await becomes(() => webhook.received.map(({ body }) => String(body)).join('\n'), /"kind":"budget"[^}]*Research/);
    await page
      .getByRole('table', { name: 'Open alerts' })
      .getByText(/Research/)
      .first()
      .waitFor();

    await go('Departments');
    await page.getByRole('treeitem', { name: /Research/ }).press('Enter');
    await button('Edit', dialog('Research')).click();
    const form = dialog('Edit “Research”');
    await form.getByRole('textbox', { name: 'Monthly budget' }).fill('60');
    await button('Save', form).click();
    await form.waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await dialog('Research').waitFor({ state: 'hidden' });
    assert.match(await shell(block('first-hour-call')), /^HTTP\/1\.1 200 /);
  });

  it('has the metrics that the dashboard asks for', async () => {
    assert.match(await shell(block('first-hour-metrics')), /^turnpike_calls_total\{.*model="gpt-5-mini"/m);
    const families = parseMetrics(readFileSync(join(dir, 'metrics.txt'), 'utf8'));
    const names = new Set(families.map(({ name }) => name));
    const file = 'node_modules/turnpike/scripts/deploy/grafana/dashboard.json';
    const { panels } = JSON.parse(readFileSync(join(dir, file), 'utf8')) as {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    };
    const asked = panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => expr.match(/turnpike_\w+/g) ?? []),
    );
    assert.ok(asked.length > 20);
    // Of counters on a Valkey server, which this gateway does not have.
    const isThere = (name: string): boolean => names.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ''));
    assert.deepEqual(
      asked.filter((name) => !isThere(name) && name !== 'turnpike_counters_shared'),
      [],
    );
  });

  it('proves a backup, and finds nothing wrong', async () => {
    const said = await shell(block('first-hour-backup'));
    assert.match(said, /was stored in \.\/backups and proven/);
    assert.match(said, /^turnpike-\S+ .* yes +yes$/m);
    assert.match(said, /^0 problems, /m);
    const invariants = said.slice(said.indexOf('0 problems')).trim().split('\n').slice(1);
    assert.ok(invariants.length > 5 && invariants.every((line) => /\bok\b/.test(line)), invariants.join('\n'));
    await go('Usage');
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await go('System');
    await page.getByText('It was restored into a scratch database, migrated, and all its invariants hold.').waitFor();
    // Chromium sometimes gives up a file of another page that is only loaded ahead, when nginx ends the connections that it would use.
    const aheadOnly =
      /ERR_TOO_MANY_RETRIES \(\S+\/assets\/page-home-|Unable to preload CSS for \S+\/assets\/page-home-/;
    assertClean(
      'in the browser',
      at.problems.filter((problem) => !aheadOnly.test(problem)),
    );
  });

  it('was all that the page names', () => {
    const own = readFileSync(fileURLToPath(import.meta.url), 'utf8');
    const [steps = ''] = textOf('scripts/deploy/first-hour.md').split('## Next');
    const named = [...steps.matchAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g)].map(([, name = '']) => name);
    assert.ok(named.length > 40);
    assert.deepEqual(
      named.filter((name) => !own.includes(`'${name}'`)),
      [],
    );
  });

  it('stops, and has sent traces and metrics to a collector', async () => {
    await at.close();
    await gateway.stop();
    const paths = new Set(collector.received.map(({ path }) => path));
    assert.deepEqual([...paths].sort(), ['/v1/metrics', '/v1/traces']);
  });
});

/** A gateway that was started by a line in a shell. */
interface Started {
  /** What the first start has printed. */
  readonly first: { readonly key: string; readonly rootPassword: string };
  stop(): Promise<void>;
}

/** Resolves when it is ready. */
async function startInstalled(dir: string, line: string): Promise<Started> {
  const server = spawn('bash', ['-c', line], {
    cwd: dir,
    env: shellEnv,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  server.stderr.on('data', (data) => {
    errors += String(data);
  });
  // npx exits at once; standard error is open until the gateway has exited.
  let hasClosed = false;
  const closed = once(server, 'close').then(() => {
    hasClosed = true;
  });
  let isReady = false;
  for await (const printed of server.stdout.iterator({ destroyOnReturn: false })) {
    isReady = String(printed).includes('ready ');
    if (isReady) break;
  }
  assert.ok(isReady, errors);
  server.stdout.resume();
  const first = errors.split('\n').find((each) => each.includes('"first start"'));
  return {
    first: JSON.parse(first ?? '{}'),
    async stop() {
      if (!hasClosed) process.kill(-server.pid!, 'SIGTERM');
      await closed;
    },
  };
}
