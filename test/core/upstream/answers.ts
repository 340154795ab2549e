/** Answers as they stand on the wire, and what the client makes of them: good ones, and such as must not be taken for answers. */

/** One answer. */
export interface WireAnswer {
  readonly name: string;
  /** One character is one byte. */
  readonly wire: string;
  /** What the vendor does behind it; else it keeps the connection for the next request. */
  readonly ends?: 'fin' | 'rst';
}

/** One that is an answer. */
export interface GoodAnswer extends WireAnswer {
  readonly status: number;
  readonly body: string;
  /** Headers it must have; undefined: that it must not have. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The connection may be used again. */
  readonly kept: boolean;
}

/** One that is none. */
export interface BadAnswer extends WireAnswer {
  readonly reason: string;
}

const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const ok = (...lines: readonly string[]): string => head('HTTP/1.1 200 OK', ...lines);
const chunked = (body: string): string => ok('transfer-encoding: chunked') + body;

export const GOOD_ANSWERS: readonly GoodAnswer[] = [
  { name: 'of a length', wire: `${ok('Content-Length: 5')}hello`, status: 200, body: 'hello', kept: true },
  { name: 'of no length at all', wire: ok('content-length: 0'), status: 200, body: '', kept: true },
  {
    name: 'in chunks',
    wire: chunked('4\r\nWiki\r\n05\r\npedia\r\nA\r\n0123456789\r\n0\r\n\r\n'),
    status: 200,
    body: 'Wikipedia0123456789',
    kept: true,
  },
  { name: 'in no chunk', wire: chunked('0\r\n\r\n'), status: 200, body: '', kept: true },
  {
    name: 'in chunks with extensions and trailers',
    wire: chunked('3;a\r\none\r\n3;b="c;d"\r\ntwo\r\n0;last\r\nX-Sum: 1\r\nx-more:\r\n\r\n'),
    status: 200,
    body: 'onetwo',
    headers: { 'x-sum': undefined },
    kept: true,
  },
  {
    name: 'whose coding is spelled otherwise',
    wire: `${ok('Transfer-Encoding:  CHUNKED ')}1\r\nx\r\n0\r\n\r\n`,
    status: 200,
    body: 'x',
    kept: true,
  },
  { name: 'without content', wire: head('HTTP/1.1 204 No Content'), status: 204, body: '', kept: true },
  {
    name: 'that was not modified, with the length it would have had',
    wire: head('HTTP/1.1 304 Not Modified', 'content-length: 5'),
    status: 304,
    body: '',
    kept: true,
  },
  {
    name: 'behind interim ones',
    wire: `${head('HTTP/1.1 100 Continue')}${head('HTTP/1.1 103 Early Hints', 'link: </a.css>')}${ok('content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    headers: { link: undefined },
    kept: true,
  },
  {
    name: 'that ends with its connection',
    wire: `${ok('x: 1')}to the end`,
    ends: 'fin',
    status: 200,
    body: 'to the end',
    kept: false,
  },
  {
    name: 'that is nothing but a head, and ends with its connection',
    wire: ok(),
    ends: 'fin',
    status: 200,
    body: '',
    kept: false,
  },
  {
    name: 'that closes',
    wire: `${ok('Connection: Close', 'content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    kept: false,
  },
  {
    name: 'that closes, as one word among others',
    wire: `${ok('connection: x-hop , close', 'content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    kept: false,
  },
  {
    name: 'of HTTP/1.0',
    wire: `${head('HTTP/1.0 200 OK', 'content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    kept: false,
  },
  {
    name: 'of HTTP/1.0 that keeps its connection',
    wire: `${head('HTTP/1.0 200 OK', 'connection: Keep-Alive', 'content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    kept: true,
  },
  {
    name: 'of HTTP/1.0 in chunks, which it does not know',
    wire: `${head('HTTP/1.0 200 OK', 'connection: keep-alive', 'transfer-encoding: chunked')}2\r\nok\r\n0\r\n\r\n`,
    status: 200,
    body: 'ok',
    kept: false,
  },
  {
    name: 'whose connection is kept for no time',
    wire: `${ok('keep-alive: timeout=1, max=5', 'connection: keep-alive', 'content-length: 2')}ok`,
    status: 200,
    body: 'ok',
    kept: false,
  },
  {
    name: 'with fields of every lawful form',
    wire: `${head('HTTP/1.1 299', "!#$%&'*+-.^_`|~aZ9: token", 'EMPTY:', 'blank: \t ', 'spaced: \t a b\tc \t', 'latin: \xe9\xff', 'many: a', 'many: b', '__proto__: c', 'content-length: 2')}ok`,
    status: 299,
    body: 'ok',
    headers: {
      "!#$%&'*+-.^_`|~az9": 'token',
      empty: '',
      blank: '',
      spaced: 'a b\tc',
      latin: '\xe9\xff',
      many: 'a, b',
      ['__proto__']: 'c',
    },
    kept: true,
  },
];

/** Good ones with bytes behind them for which no request has asked: what comes next on that connection cannot be trusted. */
export const FOLLOWED_ANSWERS: readonly GoodAnswer[] = [
  ...[`${ok('content-length: 2')}ok`, chunked('2\r\nok\r\n0\r\n\r\n'), chunked('2\r\nok\r\n0\r\nx: 1\r\n\r\n')].flatMap(
    (wire) => [
      { name: 'followed by a byte', wire: `${wire}!`, status: 200, body: 'ok', kept: false },
      {
        name: 'followed by an answer',
        wire: `${wire}${ok('content-length: 4')}evil`,
        status: 200,
        body: 'ok',
        kept: false,
      },
    ],
  ),
  {
    name: 'without content, and content',
    wire: `${head('HTTP/1.1 204 No Content', 'content-length: 4')}evil`,
    status: 204,
    body: '',
    kept: false,
  },
];

const NOT_HTTP = 'the answer is not HTTP';
const TOO_LARGE = 'the head of the answer is too large';
const CLOSED = 'the connection was closed in the middle of the answer';
const RESET = 'the connection was reset';
const framed = (...lines: readonly string[]): string => `${ok(...lines)}hello`;
const coded = (coding: string): BadAnswer => ({
  name: `the coding ${JSON.stringify(coding)}`,
  wire: `${ok(`transfer-encoding: ${coding}`)}0\r\n\r\n`,
  reason: NOT_HTTP,
});
const many = (count: number, line: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => line(i));

/** Such as must fail as soon as they are what they are, although the connection stays open. */
export const BAD_ANSWERS: readonly BadAnswer[] = [
  { name: 'another protocol', wire: 'SSH-2.0-OpenSSH_9.6\r\n', reason: NOT_HTTP },
  { name: 'a request', wire: 'GET / HTTP/1.1\r\n\r\n', reason: NOT_HTTP },
  {
    name: 'a blank line before the head',
    wire: `\r\n${framed('content-length: 5')}`,
    reason: NOT_HTTP,
  },
  { name: 'HTTP/2.0', wire: `${head('HTTP/2.0 200 OK', 'content-length: 0')}`, reason: NOT_HTTP },
  { name: 'HTTP/1.2', wire: `${head('HTTP/1.2 200 OK', 'content-length: 0')}`, reason: NOT_HTTP },
  { name: 'http in small letters', wire: `${head('http/1.1 200 OK', 'content-length: 0')}`, reason: NOT_HTTP },
  { name: 'two spaces before the status', wire: head('HTTP/1.1  200 OK', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a status of two digits', wire: head('HTTP/1.1 20 OK', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a status of four digits', wire: head('HTTP/1.1 2000 OK', 'content-length: 0'), reason: NOT_HTTP },
  {
    name: 'a status below 100',
    wire: head('HTTP/1.1 099 OK', 'content-length: 0'),
    reason: NOT_HTTP,
  },
  { name: 'a status that is no number', wire: head('HTTP/1.1 2x0 OK', 'content-length: 0'), reason: NOT_HTTP },
  {
    name: 'a control character in the reason',
    wire: head('HTTP/1.1 200 O\0K', 'content-length: 0'),
    reason: NOT_HTTP,
  },
  {
    name: 'lines that end without a carriage return',
    wire: 'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
    reason: NOT_HTTP,
  },
  { name: 'a field that ends without a carriage return', wire: ok('x: 1\ncontent-length: 0'), reason: NOT_HTTP },
  { name: 'a carriage return inside a value', wire: ok('x: 1\r2', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a NUL inside a value', wire: ok('x: a\0b', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a DEL inside a value', wire: ok('x: a\x7fb', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a folded line', wire: ok('x: a', ' b', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a folded line before any field', wire: ok(' x: a', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a space before the colon', wire: ok('content-length : 0'), reason: NOT_HTTP },
  { name: 'a name that is empty', wire: ok(': a', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a line without a colon', wire: ok('content-length', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a name that is no token', wire: ok('x"y: a', 'content-length: 0'), reason: NOT_HTTP },
  { name: 'a name outside of ASCII', wire: ok('\xe9: a', 'content-length: 0'), reason: NOT_HTTP },

  ...['+5', '-5', '0x5', '', 'five'].map((length) => ({
    name: `the length ${JSON.stringify(length)}`,
    wire: framed(`content-length: ${length}`),
    reason: NOT_HTTP,
  })),
  ...['5.0', '5 5', '5,5', '5;', '99999999999999999999'].map((length) => ({
    name: `the length ${JSON.stringify(length)}`,
    wire: framed(`content-length: ${length}`),
    reason: NOT_HTTP,
  })),
  {
    name: 'two lengths',
    wire: framed('content-length: 5', 'content-length: 6'),
    reason: NOT_HTTP,
  },
  {
    name: 'the same length twice',
    wire: framed('content-length: 5', 'content-length: 5'),
    reason: NOT_HTTP,
  },
  {
    name: 'a length and a coding',
    wire: `${ok('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`,
    reason: NOT_HTTP,
  },
  {
    name: 'a coding and a length',
    wire: `${ok('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n`,
    reason: NOT_HTTP,
  },
  ...['gzip, chunked', 'chunked, chunked', 'gzip', 'chunked, gzip', 'xchunked', 'chunked;q=1', 'identity', ''].map(
    coded,
  ),
  {
    name: 'two codings',
    wire: `${ok('transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`,
    reason: NOT_HTTP,
  },

  ...['x', '', ' 5', '5 ', '+5', '0x5', '-1', '5\n', '5;\0', '5;a\n', '10000000000000000'].map((size) => ({
    name: `the size of a chunk ${JSON.stringify(size)}`,
    wire: chunked(`${size}\r\nhello\r\n0\r\n\r\n`),
    reason: NOT_HTTP,
  })),
  { name: 'a chunk longer than its size', wire: chunked('4\r\nhello\r\n0\r\n\r\n'), reason: NOT_HTTP },
  { name: 'a chunk that ends without a carriage return', wire: chunked('5\r\nhello\n0\r\n\r\n'), reason: NOT_HTTP },
  { name: 'a chunk that ends without a line feed', wire: chunked('5\r\nhello\r0\r\n\r\n'), reason: NOT_HTTP },
  {
    name: 'an extension without end',
    wire: chunked(`5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`),
    reason: NOT_HTTP,
  },
  { name: 'a trailer that is no field', wire: chunked('0\r\nx\r\n\r\n'), reason: NOT_HTTP },
  { name: 'a trailer with a NUL', wire: chunked('0\r\nx: \0\r\n\r\n'), reason: NOT_HTTP },
  {
    name: 'trailers without end',
    wire: chunked(`0\r\n${many(40, (i) => `x-${i}: ${'x'.repeat(500)}`).join('\r\n')}\r\n\r\n`),
    reason: TOO_LARGE,
  },

  { name: 'a value without end', wire: `${'HTTP/1.1 200 OK\r\nx: '}${'x'.repeat(20_000)}`, reason: TOO_LARGE },
  { name: 'a name without end', wire: `${'HTTP/1.1 200 OK\r\n'}${'x'.repeat(20_000)}`, reason: TOO_LARGE },
  { name: 'a reason without end', wire: `${'HTTP/1.1 200 '}${'x'.repeat(20_000)}`, reason: TOO_LARGE },
  { name: 'fields without end', wire: ok(...many(200, (i) => `x-${i}: ${'x'.repeat(100)}`)), reason: TOO_LARGE },
  { name: 'more fields than any answer has', wire: ok(...many(2_001, () => 'a:')), reason: NOT_HTTP },
  {
    name: 'another protocol that is agreed on',
    wire: head('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: x'),
    reason: 'the answer changes to another protocol',
  },
  {
    name: 'interim answers without end',
    wire: head('HTTP/1.1 103 Early Hints').repeat(1_001),
    reason: NOT_HTTP,
  },
];

/** Such as end before they are complete. */
export const CUT_ANSWERS: readonly BadAnswer[] = (['fin', 'rst'] as const).flatMap((ends) =>
  Object.entries({
    'before the answer': '',
    'inside the status line': 'HTTP/1.1 2',
    'inside a field': 'HTTP/1.1 200 OK\r\ncontent-le',
    'before the end of the head': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n',
    'behind an interim answer': head('HTTP/1.1 103 Early Hints'),
    'inside a body of a length': `${ok('content-length: 6')}hello`,
    'before a body of a length': ok('content-length: 6'),
    'before the first chunk': chunked(''),
    'inside the size of a chunk': chunked('5\r\nhello\r\n1'),
    'inside a chunk': chunked('5\r\nhel'),
    'behind the data of a chunk': chunked('5\r\nhello'),
    'between two chunks': chunked('5\r\nhello\r\n'),
    'behind the last chunk': chunked('5\r\nhello\r\n0\r\n'),
    'inside a trailer': chunked('5\r\nhello\r\n0\r\nx: 1'),
    ...(ends === 'rst' && { 'inside a body that ends with its connection': `${ok('x: 1')}hello` }),
  }).map(([name, wire]): BadAnswer => ({ name, wire, ends, reason: ends === 'fin' ? CLOSED : RESET })),
);
