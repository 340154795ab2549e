/** Encrypted backup files: only the right secret opens them, and only as they were written. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { decryptFile, encryptFile, encryptionOf } from '../../../../core/operations/backups/encryption.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnpike-encryption-'));
after(() => rmSync(dir, { recursive: true }));
let files = 0;
const newFile = (): string => join(dir, String(++files));
const fileOf = (content: Buffer): string => {
  const file = newFile();
  writeFileSync(file, content);
  return file;
};

const KEY = { masterKey: Buffer.alloc(32, 7) };

describe('an encrypted file', () => {
  for (const bytes of [0, 1, 65_536, 1_000_003]) {
    it(`of ${bytes} bytes is decrypted to what it was, and only this user can read either`, async () => {
      const content = randomBytes(bytes);
      const [sealed, opened] = [newFile(), newFile()];
      await encryptFile(fileOf(content), sealed, KEY);
      await decryptFile(sealed, opened, KEY);
      assert.ok(readFileSync(opened).equals(content));
      assert.deepEqual(
        [sealed, opened].map((file) => statSync(file).mode & 0o777),
        [0o600, 0o600],
      );
    });
  }

  it('shows nothing of its content, and is another one each time', async () => {
    const content = Buffer.from('the ledger of the gateway '.repeat(100));
    const [one, two] = [newFile(), newFile()];
    await encryptFile(fileOf(content), one, KEY);
    await encryptFile(fileOf(content), two, KEY);
    assert.ok(!readFileSync(one).includes('ledger'));
    assert.ok(!readFileSync(one).equals(readFileSync(two)));
  });

  it('is opened by its passphrase, and by no other', async () => {
    const sealed = newFile();
    await encryptFile(fileOf(Buffer.from('books')), sealed, { passphrase: 'twelve or more' });
    assert.equal(await encryptionOf(sealed), 'passphrase');
    const opened = newFile();
    await assert.rejects(
      decryptFile(sealed, opened, { passphrase: 'twelve or less' }),
      /another master key or passphrase/,
    );
    assert.ok(!existsSync(opened));
    await decryptFile(sealed, opened, { passphrase: 'twelve or more' });
    assert.equal(readFileSync(opened, 'utf8'), 'books');
  });

  it('that was changed anywhere or cut off is refused, and leaves no file', async () => {
    const sealed = newFile();
    await encryptFile(fileOf(randomBytes(5_000)), sealed, KEY);
    const whole = readFileSync(sealed);
    const opened = newFile();
    for (const at of [20, 40, 60, 2_500, whole.length - 1]) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1;
      await assert.rejects(decryptFile(fileOf(changed), opened, KEY), /is damaged/, `byte ${at}`);
      assert.ok(!existsSync(opened));
    }
    for (const length of [0, 30, 60, whole.length - 1])
      await assert.rejects(decryptFile(fileOf(whole.subarray(0, length)), opened, KEY), /incomplete|is damaged/);
    assert.ok(!existsSync(opened));
  });

  it('is told from one that is not encrypted', async () => {
    assert.equal(await encryptionOf(fileOf(Buffer.from('SQLite format 3'))), undefined);
    assert.equal(await encryptionOf(fileOf(Buffer.alloc(0))), undefined);
  });
});
