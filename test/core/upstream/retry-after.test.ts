/** When a vendor wants the next request: found in every place and form in which vendors say it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryAfter } from '../../../core/delivery/retry-after.ts';

const NOW = Date.UTC(2026, 10, 1, 12, 0, 0);
const inSeconds = (seconds: number): string => new Date(NOW + seconds * 1_000).toUTCString();

describe('the wait in the headers of an answer', () => {
  for (const [headers, ms] of [
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after': '12s' }, 12_000],
    [{ 'retry-after': inSeconds(9), date: inSeconds(0) }, 9_000],
    [{ 'retry-after': inSeconds(9), date: inSeconds(4) }, 5_000],
    [{ 'retry-after': inSeconds(9) }, 9_000],
    [{ 'retry-after': new Date(NOW + 9_000).toISOString() }, 9_000],
    [{ 'retry-after': inSeconds(-9) }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '999999' }, 60_000],
    [{ 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    [{ 'x-ms-retry-after-ms': '250' }, 250],
    [{ 'retry-after': String(NOW / 1_000 + 11) }, 11_000],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m0.5s' }, 60_000],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '350ms' }, 350],
    [{ 'x-ratelimit-remaining-tokens': '8', 'x-ratelimit-reset-tokens': '350ms' }, undefined],
    [{ 'vendor-ratelimit-tokens-remaining': '0', 'vendor-ratelimit-tokens-reset': '2026-11-01T12:00:20Z' }, 20_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 3_000) }, 3_000],
    [{}, undefined],
  ] as const) {
    it(`is ${ms} ms in ${JSON.stringify(headers)}`, () => assert.equal(retryAfter({ ...headers }, NOW), ms));
  }
});

describe('the wait in the body of an answer', () => {
  for (const [body, ms] of [
    [
      {
        error: {
          code: 429,
          message: 'Quota.',
          details: [{ '@type': 'x/Help' }, { '@type': 'x/RetryInfo', retryDelay: '34s' }],
        },
      },
      34_000,
    ],
    [[{ error: { details: [{ retryDelay: '0.847655010s' }] } }], 847.65501],
    [{ error: { details: [{ retryDelay: { seconds: 3, nanos: 500_000_000 } }] } }, 3_500],
    [
      {
        error: {
          message: 'Rate limit reached for x in organization y on tokens. Please try again in 1m2.5s. Visit us.',
        },
      },
      60_000,
    ],
    [{ error: { message: 'Please try again in 20s.' } }, 20_000],
    [{ error: { message: 'Please try again in 350ms.' } }, 350],
    [{ error: { message: 'Please retry in 12.25 seconds.' } }, 12_250],
    [{ error: { message: 'Your requests exceeded the limit. Please retry after 26 seconds.' } }, 26_000],
    [{ error: { message: 'Retry your request after 2 minutes' } }, 60_000],
    [{ message: 'slow down', retry_after: 1.5 }, 1_500],
    [{ error: { metadata: { headers: { 'X-RateLimit-Reset': String(NOW + 5_000) } } } }, 5_000],
    [{ error: { retry_after_ms: 700 } }, 700],
    [{ detail: 'Please wait for 3 s.' }, 3_000],
    [{ error: { message: 'try again later' } }, undefined],
    [{ error: { retry_after: 'never' } }, undefined],
  ] as const) {
    it(`is ${ms} ms in ${JSON.stringify(body)}`, () => {
      assert.equal(retryAfter({}, NOW, Buffer.from(JSON.stringify(body))), ms);
    });
  }

  it('is in plain text, too, and the headers are asked first', () => {
    assert.equal(retryAfter({}, NOW, Buffer.from('Too many requests, try again in 4s')), 4_000);
    assert.equal(retryAfter({ 'retry-after': '2' }, NOW, Buffer.from('{"retry_after":9}')), 2_000);
  });
});
