/** Which proxy a request uses: by its channel, by `upstream.proxy`, by the environment and its exceptions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOutgoingProxies, proxySecrets } from '../../../core/upstream/proxy.ts';

const ONE = 'http://one.example:3128';
const TWO = 'http://two.example:3128';

/** The name of the proxy for a URL; undefined: none. */
function proxyOf(
  url: string,
  given: { readonly own?: string; readonly written?: string; readonly env?: Readonly<Record<string, string>> },
): string | undefined {
  return createOutgoingProxies(given.written, given.env ?? {}, assert.fail).for(new URL(url), given.own)?.name;
}

describe('the proxy of a request', () => {
  it('is that of the environment, by the scheme of the request', () => {
    const env = { HTTP_PROXY: ONE, HTTPS_PROXY: TWO };
    assert.equal(proxyOf('http://vendor.example', { env }), ONE);
    assert.equal(proxyOf('https://vendor.example', { env }), TWO);
    assert.equal(proxyOf('wss://vendor.example', { env }), TWO);
    assert.equal(proxyOf('https://vendor.example', { env: { HTTP_PROXY: ONE } }), undefined);
    assert.equal(proxyOf('https://vendor.example', {}), undefined);
  });

  it('is that of the variable in lower case if both are set, and not that of an empty one', () => {
    assert.equal(proxyOf('https://vendor.example', { env: { HTTPS_PROXY: ONE, https_proxy: TWO } }), TWO);
    assert.equal(proxyOf('https://vendor.example', { env: { HTTPS_PROXY: ONE, https_proxy: '' } }), ONE);
    assert.equal(proxyOf('https://vendor.example', { env: { HTTPS_PROXY: '' } }), undefined);
  });

  it('may be without a scheme in the environment, and without a port', () => {
    assert.equal(proxyOf('https://vendor.example', { env: { HTTPS_PROXY: 'one.example:3128' } }), ONE);
    assert.equal(
      proxyOf('https://vendor.example', { env: { HTTPS_PROXY: 'https://one.example' } }),
      'https://one.example:443',
    );
  });

  it('is that of `upstream.proxy` instead, for both schemes, or none', () => {
    const env = { HTTP_PROXY: ONE, HTTPS_PROXY: ONE };
    assert.equal(proxyOf('http://vendor.example', { env, written: TWO }), TWO);
    assert.equal(proxyOf('https://vendor.example', { env, written: TWO }), TWO);
    assert.equal(proxyOf('https://vendor.example', { env, written: 'none' }), undefined);
    assert.equal(proxyOf('https://vendor.example', { env, written: '' }), ONE);
  });

  it('is that of its channel before all others, whatever the exceptions, or none', () => {
    const env = { HTTPS_PROXY: ONE, NO_PROXY: '*' };
    assert.equal(proxyOf('https://vendor.example', { env, written: ONE, own: TWO }), TWO);
    assert.equal(proxyOf('http://127.0.0.1', { env, own: TWO }), TWO);
    assert.equal(proxyOf('https://vendor.example', { written: ONE, own: 'none' }), undefined);
    assert.equal(proxyOf('https://vendor.example', { written: ONE, own: '' }), ONE);
  });

  const exceptions: readonly (readonly [list: string, direct: readonly string[], through: readonly string[]])[] = [
    ['*', ['https://vendor.example'], []],
    [
      'vendor.example, .other.example *.third.example',
      [
        'https://vendor.example',
        'https://API.vendor.example',
        'https://vendor.example.',
        'https://other.example',
        'https://a.b.other.example',
        'https://x.third.example',
      ],
      ['https://notvendor.example', 'https://vendor.example.org'],
    ],
    ['vendor.example:8443', ['https://vendor.example:8443'], ['https://vendor.example']],
    ['vendor.example:443', ['https://vendor.example'], ['https://vendor.example:8443', 'http://vendor.example']],
    [
      '10.0.0.0/8,192.0.2.7,2001:db8::/32',
      ['https://10.1.2.3', 'https://192.0.2.7:9', 'https://[2001:db8::1]'],
      ['https://11.1.2.3', 'https://192.0.2.8', 'https://[2001:db9::1]', 'https://10.1.2.3.example'],
    ],
    [
      '',
      [
        'http://localhost:8000',
        'http://127.0.0.1:11434',
        'http://127.8.8.8',
        'http://[::1]:80',
        'http://llm.localhost',
      ],
      ['http://10.0.0.1', 'http://localhost.example'],
    ],
  ];
  for (const [list, direct, through] of exceptions) {
    it(`follows NO_PROXY "${list}", and never leaves this machine for itself`, () => {
      const given = { env: { HTTP_PROXY: ONE, HTTPS_PROXY: ONE, NO_PROXY: list } };
      for (const url of direct) assert.equal(proxyOf(url, given), undefined, url);
      for (const url of through) assert.equal(proxyOf(url, given), ONE, url);
    });
  }

  it('has no user or password in its name', () => {
    const proxies = createOutgoingProxies('http://us%40er:p%3Ass@[2001:db8::1]:3128', {}, assert.fail);
    const { name, hostname, port, authorization } = proxies.for(new URL('https://vendor.example'))!;
    assert.deepEqual([name, hostname, port], ['http://[2001:db8::1]:3128', '2001:db8::1', 3128]);
    assert.equal(authorization, `Basic ${Buffer.from('us@er:p:ss').toString('base64')}`);
    assert.deepEqual(proxies.secrets, ['p%3Ass', 'p:ss']);
    assert.deepEqual([proxySecrets(ONE), proxySecrets('none')], [[], []]);
  });

  it('is none, with a warning that does not repeat it, if the variable is not the URL of an HTTP proxy', () => {
    const warnings: string[] = [];
    const env = { HTTPS_PROXY: 'socks5://user:secret@one.example' };
    const proxies = createOutgoingProxies(undefined, env, (message) => warnings.push(message));
    assert.equal(proxies.for(new URL('https://vendor.example')), undefined);
    assert.deepEqual(warnings, [
      'the environment variable HTTPS_PROXY is not used: it is not the URL of an HTTP proxy',
    ]);
  });
});
