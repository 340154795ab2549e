import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDataUrl, trueType } from '../../../core/bytes/data-url.ts';
import { processorTime } from '../../kit/clients/processor.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).toString('base64');

describe('base64 in a data URL', () => {
  it('is normalized to standard base64 with padding', () => {
    for (const written of ['+/8=', '-_8', '-_8=', ' +/\n8= ', '+/8==', '+/8=\r\n']) {
      assert.deepEqual(readDataUrl(`data:image/x;base64,${written}`), { mediaType: 'image/x', data: '+/8=' }, written);
    }
  });

  it('is invalid with any other character, or with padding in the middle', () => {
    const letters = 'A'.repeat(1_100);
    for (const written of ['', 'A=A', '===', `${letters}=${letters}`, '\u00e9', `${letters}!`, 'AA= = A']) {
      assert.equal(readDataUrl(`data:image/png;base64,${written}`), undefined, written.slice(0, 10));
    }
  });

  it('is decoded in linear time', () => {
    const letters = 'A'.repeat(1_100);
    const used = processorTime();
    for (const written of [
      `${letters}${'='.repeat(4_000_000)}${letters}`,
      `${letters}${'='.repeat(4_000_000)}`,
      `${letters}=${' '.repeat(4_000_000)}x`,
      `${' '.repeat(4_000_000)}=${letters}`,
    ]) {
      assert.equal(readDataUrl(`data:image/png;base64,${written}`), undefined);
    }
    for (let i = 0; i < 2_000; i++) readDataUrl(`data:image/png;base64,${' '.repeat(2_000)}!`);
    readDataUrl(`data:${';'.repeat(4_000_000)}`);
    const took = used();
    assert.ok(took < 5_000, `it took ${took} ms`);
  });

  it('has the media type of its first bytes, otherwise the declared one', () => {
    assert.equal(trueType(PNG, 'binary/octet-stream'), 'image/png');
    assert.equal(trueType('AAAA', 'IMAGE/JPG'), 'image/jpeg');
    assert.deepEqual(readDataUrl(PNG, 'image/jpeg'), { mediaType: 'image/png', data: PNG });
  });
});
