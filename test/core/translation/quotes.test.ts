/** What a vendor's words quote of a request is taken out of them; everything else stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutQuotes } from '../../../core/translation/quotes.ts';

const PROMPT = 'Our project is called Blue Heron.\nIts budget is "four million" euros, and café Zoë pays.';

describe('a quote of the request in the words of a vendor', () => {
  for (const [what, words, rest] of [
    ['as it is', `Invalid text: ${PROMPT}`, 'Invalid text: […].'],
    ['in part', 'Invalid text: called Blue Heron. Try again.', 'Invalid text: […]. Try again.'],
    ['cut', 'Invalid text: "Our project is called Bl…"', 'Invalid text: "[…]…"'],
    ['as JSON', `Invalid: ${JSON.stringify(PROMPT)} at 7`, 'Invalid: "[…]." at 7'],
    ['as JSON in JSON', `Invalid: ${JSON.stringify(JSON.stringify(PROMPT))} at 7`, 'Invalid: "\\"[…].\\"" at 7'],
    ['as ASCII', 'Invalid: euros, and caf\\u00e9 Zo\\xeb pays', 'Invalid: […]'],
    ['in capitals', 'INVALID: ITS BUDGET IS "FOUR MILLION" EUROS', 'INVALID: […]'],
    ['in lower case, with other spaces', 'invalid: its\tbudget is  `four million`', 'invalid: […]`'],
    ['without accents', 'invalid: euros, and cafe Zoe pays', 'invalid: […]'],
    ['as one word in quotation marks', "Invalid value 'Heron' can't be used", "Invalid value '[…]' can't be used"],
    ['as one word whose quotation has no end', 'Invalid value "Heron', 'Invalid value "[…]'],
  ] as const) {
    it(`is omitted: ${what}`, () => {
      assert.equal(withoutQuotes(words, [PROMPT]), rest);
    });
  }

  it('is omitted if it is a short text as a whole', () => {
    assert.equal(withoutQuotes('Unknown: Ann Lee, line 2', ['Ann Lee']), 'Unknown: […], line 2');
    assert.equal(withoutQuotes('Unknown: Annabelle', ['Anna']), 'Unknown: Annabelle');
  });

  it('is omitted in scripts without spaces', () => {
    assert.equal(withoutQuotes('错误：请告诉我蓝鹭计划的内容。', ['请告诉我蓝鹭计划的内容']), '错误：[…]。');
  });

  it('is omitted at each place, also where it begins in one piece of a long text and ends in the next one', async () => {
    for (let length = 16_384 - 24; length < 16_384 + 4; length++) {
      const text = `${'x'.repeat(length)} the winter garden ${'y'.repeat(100)}`;
      assert.equal(
        await withoutQuotes('no the winter garden; and no The Winter Garden', [text]),
        'no […]; and no […]',
        `${length}`,
      );
    }
  });
});

describe('words that are no quote', () => {
  for (const [words, texts] of [
    ["This model's maximum context length is 8192 tokens", [PROMPT, 'the model is too long']],
    ["Unsupported value: 'temperature' does not support 0.2", [PROMPT]],
    ['reasoning_effort: auto is not supported', ['auto']],
    ["content.0: can't be 'image', it won't do", ["I don't be 'so', nor won't it"]],
    ['', [PROMPT]],
    ['Heron', ['']],
  ] as const) {
    it(`stay: ${words}`, () => {
      assert.equal(withoutQuotes(words, texts), words);
    });
  }

  it('stay if they name a member of the request', () => {
    const words = "Unsupported parameter: 'temperature'";
    const texts = ['Tell me about temperature in Oslo'];
    assert.equal(
      withoutQuotes(words, texts, (name) => name === 'temperature'),
      words,
    );
    assert.equal(withoutQuotes(words, texts), "Unsupported parameter: '[…]'");
  });
});

describe('a large request', () => {
  it('is compared in turns with other work', async () => {
    const text = `${'A plain sentence that is like all others. '.repeat(50_000)}The last one is about Blue Heron.`;
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const rest = withoutQuotes('Invalid: the last one is about blue heron', [text]);
    assert(rest instanceof Promise);
    assert.equal(await rest, 'Invalid: […]');
    clearImmediate(timer);
    assert(turns >= 20, `${turns}`);
  });
});
