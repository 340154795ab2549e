/** The stored prompt and answer in the drawer of a call: shown when asked for, as a conversation, in both languages, on phones, in the dark. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertClean, becomes, builtConsole, freePort, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, signedIn, verify } from '../kit/console/console.ts';
import { startGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { SCENARIOS, says } from '../kit/vendors/scenarios.ts';

/** What must be shown as text. */
const MARKUP = '<img src=x onerror="document.title=\'owned\'"><b>bold</b>';

describe('a stored prompt and answer', () => {
  it('are shown to those who may read them, when they ask, and the audit log has an entry', async () => {
    const port = await freePort();
    const vendor = await fakeVendor(says(SCENARIOS.calls, { key: VENDOR_KEY }));
    const gateway = await startGateway({
      vendor,
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE, 'prompts'],
        console: { ...PATIENT, url: `http://localhost:${port}` },
        prompts: { keep: '30d', own: true, maxBytes: '2kb' },
      },
      env: { ...ROOT_ENV, ...(await builtConsole()) },
    });
    const browser = await startBrowser();
    const [boss, ann] = [
      await verify(await signedIn(gateway, 'root')),
      await member(gateway, 'ann', { units: 10_000_000 }),
    ];
    const { key } = await ann.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true });
    const png = `data:image/png;base64,${Buffer.alloc(1_500).toString('base64')}`;
    const tool = { name: 'get_weather', description: 'Looks it up.', parameters: { type: 'object', properties: {} } };
    const called = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } };
    const response = await gateway.chat(
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'x'.repeat(4_000) },
          { role: 'assistant', content: null, tool_calls: [called] },
          { role: 'tool', tool_call_id: 'c1', content: 'rain' },
          {
            role: 'user',
            content: [
              { type: 'text', text: `${MARKUP} ${'A-long-word'.repeat(20)}` },
              { type: 'image_url', image_url: { url: png } },
            ],
          },
        ],
        tools: [{ type: 'function', function: tool }],
      },
      { key },
    );
    assert.equal(response.status, 200, await response.text());
    const id = response.headers.get('x-request-id');
    const entries = async () => (await boss.data('GET', '/api/audit?action=prompt')).items.length;
    const at = await onlooker(browser, gateway, boss);
    const own = await onlooker(browser, gateway, ann, { language: 'zh', scheme: 'dark', width: 360 });
    try {
      await at.open(`/logs?open=${id}`);
      const drawer = at.page.getByRole('dialog');
      await drawer.getByText('The audit log records that you read them.').waitFor();
      assert.equal(await entries(), 0, 'opening the drawer reads nothing');
      await drawer.getByRole('button', { name: 'Show prompt and answer' }).click();
      await drawer.getByText(MARKUP).waitFor();
      assert.equal(await entries(), 1);
      const messages = drawer.getByRole('article');
      await becomes(
        async () => (await messages.allInnerTexts()).map((text) => text.split('\n')[0]),
        ['User', 'Assistant', 'Tool', 'User', 'Answer · Ended with tool calls'],
      );
      await drawer.getByText('Earlier messages that are not stored: 1').waitFor();
      await messages
        .first()
        .getByText(/^Not stored: .* more$/)
        .waitFor();
      await messages.nth(1).getByText('Tool call: get_weather').waitFor();
      await messages.nth(2).getByText('rain').waitFor();
      await messages.nth(3).getByText('Media, not stored · image/png · 1.5 kB').waitFor();
      await messages.last().getByText('Reasoning').click();
      await messages.last().getByText('Two things to find out.').waitFor();
      await drawer.getByText('Tools: 1').click();
      for (const scheme of ['light', 'dark'] as const) {
        await at.look({ scheme });
        assert.deepEqual(await at.violations(), [], scheme);
      }

      const unchecked = await onlooker(browser, gateway, await signedIn(gateway, 'root'));
      await unchecked.open(`/logs?open=${id}`);
      const show = unchecked.page.getByRole('button', { name: 'Show prompt and answer' });
      await show.click();
      for (let i = 0; i < 2; i++) {
        await unchecked.page.getByRole('dialog', { name: 'Confirm it’s you' }).waitFor();
        await unchecked.page.keyboard.press('Escape');
        if (i === 0) await show.click();
      }
      await unchecked.close();
      assert.equal(await entries(), 1, 'nothing is read without the check');

      await own.open(`/logs?open=${id}`);
      const theirs = own.page.getByRole('dialog');
      await theirs.getByRole('button', { name: '显示提示词和回答' }).click();
      await theirs.getByText(MARKUP).waitFor();
      await theirs.getByText('更早的 1 条消息未保存').waitFor();
      assert.equal(await entries(), 1, 'their own');
      assert.deepEqual([await own.violations(), await own.overflow()], [[], []]);
      await at.open('/audit');
      await at.page.getByText(`root read the prompt and answer of the call ${id}`).first().waitFor();
      assertClean('the drawer', [...at.problems, ...own.problems]);
    } finally {
      await at.close();
      await own.close();
      await browser.close();
      await gateway.stop();
      await vendor.close();
    }
  });
});
