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

/** An answer with the status 200 whose connection is kept, except for what is given. */
function good(name: string, wire: string, body: string, more: Partial<GoodAnswer> = {}): GoodAnswer {
  return { name, wire, status: 200, body, kept: true, ...more };
}

export const GOOD_ANSWERS: readonly GoodAnswer[] = [
  good('of a length', `${ok('Content-Length: 5')}hello`, 'hello'),
  good('of no length at all', ok('content-length: 0'), ''),
  good('in chunks', chunked('4\r\nWiki\r\n05\r\npedia\r\nA\r\n0123456789\r\n0\r\n\r\n'), 'Wikipedia0123456789'),
  good('in no chunk', chunked('0\r\n\r\n'), ''),
  good(
    'in chunks with extensions and trailers',
    chunked('3;a\r\none\r\n3;b="c;d"\r\ntwo\r\n0;last\r\nX-Sum: 1\r\nx-more:\r\n\r\n'),
    'onetwo',
    { headers: { 'x-sum': undefined } },
  ),
  good('whose coding is spelled otherwise', `${ok('Transfer-Encoding:  CHUNKED ')}1\r\nx\r\n0\r\n\r\n`, 'x'),
  good('without content', head('HTTP/1.1 204 No Content'), '', { status: 204 }),
  good(
    'that was not modified, with the length it would have had',
    head('HTTP/1.1 304 Not Modified', 'content-length: 5'),
    '',
    { status: 304 },
  ),
  good(
    'behind interim ones',
    `${head('HTTP/1.1 100 Continue')}${head('HTTP/1.1 103 Early Hints', 'link: </a.css>')}${ok('content-length: 2')}ok`,
    'ok',
    { headers: { link: undefined } },
  ),
  good('that ends with its connection', `${ok('x: 1')}to the end`, 'to the end', { ends: 'fin', kept: false }),
  good('that is nothing but a head, and ends with its connection', ok(), '', { ends: 'fin', kept: false }),
  good('that closes', `${ok('Connection: Close', 'content-length: 2')}ok`, 'ok', { kept: false }),
  good('that closes, as one word among others', `${ok('connection: x-hop , close', 'content-length: 2')}ok`, 'ok', {
    kept: false,
  }),
  good('of HTTP/1.0', `${head('HTTP/1.0 200 OK', 'content-length: 2')}ok`, 'ok', { kept: false }),
  good(
    'of HTTP/1.0 that keeps its connection',
    `${head('HTTP/1.0 200 OK', 'connection: Keep-Alive', 'content-length: 2')}ok`,
    'ok',
  ),
  good(
    'of HTTP/1.0 in chunks, which it does not know',
    `${head('HTTP/1.0 200 OK', 'connection: keep-alive', 'transfer-encoding: chunked')}2\r\nok\r\n0\r\n\r\n`,
    'ok',
    { kept: false },
  ),
  good(
    'whose connection is kept for no time',
    `${ok('keep-alive: timeout=1, max=5', 'connection: keep-alive', 'content-length: 2')}ok`,
    'ok',
    { kept: false },
  ),
  good(
    'with fields of every lawful form',
    `${head('HTTP/1.1 299', "!#$%&'*+-.^_`|~aZ9: token", 'EMPTY:', 'blank: \t ', 'spaced: \t a b\tc \t', 'latin: \xe9\xff', 'many: a', 'many: b', '__proto__: c', 'content-length: 2')}ok`,
    'ok',
    {
      status: 299,
      headers: {
        "!#$%&'*+-.^_`|~az9": 'token',
        empty: '',
        blank: '',
        spaced: 'a b\tc',
        latin: '\xe9\xff',
        many: 'a, b',
        ['__proto__']: 'c',
      },
    },
  ),
];

/** Good ones with bytes behind them for which no request has asked: what comes next on that connection cannot be trusted. */
export const FOLLOWED_ANSWERS: readonly GoodAnswer[] = [
  ...[`${ok('content-length: 2')}ok`, chunked('2\r\nok\r\n0\r\n\r\n'), chunked('2\r\nok\r\n0\r\nx: 1\r\n\r\n')].flatMap(
    (wire) => [
      good('followed by a byte', `${wire}!`, 'ok', { kept: false }),
      good('followed by an answer', `${wire}${ok('content-length: 4')}evil`, 'ok', { kept: false }),
    ],
  ),
  good('without content, and content', `${head('HTTP/1.1 204 No Content', 'content-length: 4')}evil`, '', {
    status: 204,
    kept: false,
  }),
];

const NOT_HTTP = 'the answer is not HTTP';
const TOO_LARGE = 'the head of the answer is too large';
const CLOSED = 'the connection was closed in the middle of the answer';
const RESET = 'the connection was reset';

/** What is no answer. */
function bad(name: string, wire: string, reason = NOT_HTTP): BadAnswer {
  return { name, wire, reason };
}
const framed = (...lines: readonly string[]): string => `${ok(...lines)}hello`;
const coded = (coding: string): BadAnswer =>
  bad(`the coding ${JSON.stringify(coding)}`, `${ok(`transfer-encoding: ${coding}`)}0\r\n\r\n`);
const many = (count: number, line: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => line(i));

/** Such as must fail as soon as they are what they are, although the connection stays open. */
export const BAD_ANSWERS: readonly BadAnswer[] = [
  bad('another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'),
  bad('a request', 'GET / HTTP/1.1\r\n\r\n'),
  bad('a blank line before the head', `\r\n${framed('content-length: 5')}`),
  bad('HTTP/2.0', `${head('HTTP/2.0 200 OK', 'content-length: 0')}`),
  bad('HTTP/1.2', `${head('HTTP/1.2 200 OK', 'content-length: 0')}`),
  bad('http in small letters', `${head('http/1.1 200 OK', 'content-length: 0')}`),
  bad('two spaces before the status', head('HTTP/1.1  200 OK', 'content-length: 0')),
  bad('a status of two digits', head('HTTP/1.1 20 OK', 'content-length: 0')),
  bad('a status of four digits', head('HTTP/1.1 2000 OK', 'content-length: 0')),
  bad('a status below 100', head('HTTP/1.1 099 OK', 'content-length: 0')),
  bad('a status that is no number', head('HTTP/1.1 2x0 OK', 'content-length: 0')),
  bad('a control character in the reason', head('HTTP/1.1 200 O\0K', 'content-length: 0')),
  bad('lines that end without a carriage return', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'),
  bad('a field that ends without a carriage return', ok('x: 1\ncontent-length: 0')),
  bad('a carriage return inside a value', ok('x: 1\r2', 'content-length: 0')),
  bad('a NUL inside a value', ok('x: a\0b', 'content-length: 0')),
  bad('a DEL inside a value', ok('x: a\x7fb', 'content-length: 0')),
  bad('a folded line', ok('x: a', ' b', 'content-length: 0')),
  bad('a folded line before any field', ok(' x: a', 'content-length: 0')),
  bad('a space before the colon', ok('content-length : 0')),
  bad('a name that is empty', ok(': a', 'content-length: 0')),
  bad('a line without a colon', ok('content-length', 'content-length: 0')),
  bad('a name that is no token', ok('x"y: a', 'content-length: 0')),
  bad('a name outside of ASCII', ok('\xe9: a', 'content-length: 0')),

  ...['+5', '-5', '0x5', '', 'five'].map((length) =>
    bad(`the length ${JSON.stringify(length)}`, framed(`content-length: ${length}`)),
  ),
  ...['5.0', '5 5', '5,5', '5;', '99999999999999999999'].map((length) =>
    bad(`the length ${JSON.stringify(length)}`, framed(`content-length: ${length}`)),
  ),
  bad('two lengths', framed('content-length: 5', 'content-length: 6')),
  bad('the same length twice', framed('content-length: 5', 'content-length: 5')),
  bad('a length and a coding', `${ok('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`),
  bad('a coding and a length', `${ok('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n`),
  ...['gzip, chunked', 'chunked, chunked', 'gzip', 'chunked, gzip', 'xchunked', 'chunked;q=1', 'identity', ''].map(
    coded,
  ),
  bad('two codings', `${ok('transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`),

  ...['x', '', ' 5', '5 ', '+5', '0x5', '-1', '5\n', '5;\0', '5;a\n', '10000000000000000'].map((size) =>
    bad(`the size of a chunk ${JSON.stringify(size)}`, chunked(`${size}\r\nhello\r\n0\r\n\r\n`)),
  ),
  bad('a chunk longer than its size', chunked('4\r\nhello\r\n0\r\n\r\n')),
  bad('a chunk that ends without a carriage return', chunked('5\r\nhello\n0\r\n\r\n')),
  bad('a chunk that ends without a line feed', chunked('5\r\nhello\r0\r\n\r\n')),
  bad('an extension without end', chunked(`5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`)),
  bad('a trailer that is no field', chunked('0\r\nx\r\n\r\n')),
  bad('a trailer with a NUL', chunked('0\r\nx: \0\r\n\r\n')),
  bad(
    'trailers without end',
    chunked(`0\r\n${many(40, (i) => `x-${i}: ${'x'.repeat(500)}`).join('\r\n')}\r\n\r\n`),
    TOO_LARGE,
  ),

  bad('a value without end', `${'HTTP/1.1 200 OK\r\nx: '}${'x'.repeat(20_000)}`, TOO_LARGE),
  bad('a name without end', `${'HTTP/1.1 200 OK\r\n'}${'x'.repeat(20_000)}`, TOO_LARGE),
  bad('a reason without end', `${'HTTP/1.1 200 '}${'x'.repeat(20_000)}`, TOO_LARGE),
  bad('fields without end', ok(...many(200, (i) => `x-${i}: ${'x'.repeat(100)}`)), TOO_LARGE),
  bad('more fields than any answer has', ok(...many(2_001, () => 'a:'))),
  bad(
    'another protocol that is agreed on',
    head('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: x'),
    'the answer changes to another protocol',
  ),
  bad('interim answers without end', head('HTTP/1.1 103 Early Hints').repeat(1_001)),
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
