import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { OpenStore } from '../../../core/plugin.ts';
import {
  draftKey,
  type KeySource,
  keySource,
  nameDraft,
  newVault,
  openVault,
  readKeyFile,
} from '../../../core/store/master-key.ts';
import { openStore, rememberVault } from '../../../core/store/migrations.ts';
import { createVault, readMasterKey } from '../../../core/store/vault.ts';
import sqlite from '../../../plugins/stores/sqlite/index.ts';
import fc from '../../kit/fast-check.ts';

const KEY = Buffer.alloc(32, 1);
const PLACE = 'totp.secret 7';

describe('a vault', () => {
  const vault = createVault(KEY);

  it('decrypts what it encrypted, whatever the content is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (secret, place) => {
        // A lone surrogate is no text: it cannot be kept.
        fc.pre(Buffer.from(secret).toString() === secret);
        assert.equal(vault.open(place, vault.seal(place, secret)), secret);
      }),
    );
  });

  it('decrypts what another vault with the same master key encrypted', () => {
    assert.equal(createVault(Buffer.from(KEY)).open(PLACE, vault.seal(PLACE, 'a secret')), 'a secret');
  });

  it('encrypts the same text differently each time, and reveals neither the secret nor its context', () => {
    const sealed = Array.from({ length: 100 }, () => vault.seal(PLACE, 'a secret'));
    assert.equal(new Set(sealed).size, 100);
    for (const text of sealed) {
      assert.match(text, /^v1\.[0-9a-f]{16}\.[A-Za-z0-9_-]+$/);
      const bytes = Buffer.from(text.split('.')[2]!, 'base64url').toString('latin1');
      assert.equal(bytes.includes('a secret') || bytes.includes(PLACE), false);
    }
  });

  it('decrypts nothing in another context, so rows cannot be exchanged', () => {
    const sealed = vault.seal(PLACE, 'a secret');
    for (const place of ['totp.secret 8', 'totp_pending.secret 7', 'totp.secret 7 ', '']) {
      assert.throws(() => vault.open(place, sealed), place);
    }
  });

  it('decrypts nothing that was changed, truncated or extended', () => {
    const [version, keyId, text = ''] = vault.seal(PLACE, 'a secret').split('.');
    const bytes = Buffer.from(text, 'base64url');
    const open = (changed: Buffer) => vault.open(PLACE, `${version}.${keyId}.${changed.toString('base64url')}`);
    assert.equal(open(bytes), 'a secret');
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      assert.throws(() => open(changed), `byte ${i}`);
      assert.throws(() => open(bytes.subarray(0, i)), `${i} bytes`);
    }
    assert.throws(() => open(Buffer.concat([bytes, Buffer.of(0)])));
  });

  it('reports why a value was not encrypted by it', () => {
    const other = createVault(Buffer.alloc(32, 2)).seal(PLACE, 'a secret');
    assert.throws(() => vault.open(PLACE, other), { message: 'it was sealed with another master key' });
    const sealed = vault.seal(PLACE, 'a secret');
    for (const text of [
      '',
      'a secret',
      'v1',
      'v1..',
      `v2${sealed.slice(2)}`,
      `v1.${vault.keyId}.`,
      sealed.slice(0, 30),
    ]) {
      assert.throws(() => vault.open(PLACE, text), { message: 'it is not a sealed secret' }, text);
    }
  });

  it('identifies its master key without revealing it', () => {
    assert.match(vault.keyId, /^[0-9a-f]{16}$/);
    assert.equal(createVault(Buffer.from(KEY)).keyId, vault.keyId);
    assert.notEqual(createVault(Buffer.alloc(32, 2)).keyId, vault.keyId);
    assert.equal(KEY.toString('hex').includes(vault.keyId), false);
  });
});

describe('the master key in the environment', () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));

  it('is 32 bytes in base64 or hexadecimal', () => {
    for (const text of [
      key.toString('base64'),
      key.toString('base64').replace('=', ''),
      key.toString('base64url'),
      key.toString('hex'),
      key.toString('hex').toUpperCase(),
      ` ${key.toString('base64')}\n`,
    ]) {
      assert.deepEqual(readMasterKey(text), key, text);
    }
  });

  it('is refused if it is too short, too long, or a passphrase', () => {
    const sentence = 'correct horse battery staple on a long road home yes';
    assert.equal(Buffer.from(sentence, 'base64').length, 32, 'a buffer would take it');
    for (const text of [
      '',
      'secret',
      sentence,
      key.subarray(1).toString('base64'),
      Buffer.concat([key, Buffer.of(1)]).toString('base64'),
      key.toString('hex').slice(1),
      `${key.toString('hex')}00`,
    ]) {
      assert.throws(() => readMasterKey(text), /TURNPIKE_MASTER_KEY must be 32 bytes/, text);
    }
  });
});

describe('the master key in a file beside the database', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  after(() => rmSync(dir, { recursive: true }));
  const make = (file: string): Buffer => {
    const key = draftKey(file);
    nameDraft(file);
    return key;
  };

  it('is created readable for its owner only, and read again unchanged', () => {
    const file = join(dir, 'made.key');
    const key = make(file);
    assert.equal(key.length, 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readKeyFile(file), key);
    assert.notDeepEqual(make(join(dir, 'other.key')), key);
    assert.deepEqual(readMasterKey(readFileSync(file, 'utf8')), key, 'it may be moved to the environment');
    assert.deepEqual(readdirSync(dir).sort(), ['made.key', 'other.key'], 'and nothing else is left');
  });

  it('is refused if others may read it', () => {
    const file = join(dir, 'open.key');
    make(file);
    for (const mode of [0o640, 0o604, 0o660, 0o644]) {
      chmodSync(file, mode);
      assert.throws(() => readKeyFile(file), { message: `others may read ${file}: chmod 600 it` });
    }
    chmodSync(file, 0o400);
    assert.equal(readKeyFile(file).length, 32);
  });

  it('is refused, and left unchanged, if it has other content', () => {
    const file = join(dir, 'wrong.key');
    for (const text of ['', 'not a key\n', `${KEY.subarray(1).toString('base64')}\n`]) {
      writeFileSync(file, text, { mode: 0o600 });
      assert.throws(() => readKeyFile(file), /does not contain a master key/);
      assert.equal(readFileSync(file, 'utf8'), text);
    }
  });
});

describe('an encrypted store', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  after(() => rmSync(dir, { recursive: true }));
  const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
  let stores = 0;
  /** An empty store, and where its key would be. */
  async function withStore(use: (store: OpenStore, source: KeySource) => Promise<void>): Promise<void> {
    const file = join(dir, `${stores++}.db`);
    const store = await openStore({ driver: sqlite, file, log });
    try {
      await use(store, keySource(file, {}));
    } finally {
      await store.close();
    }
  }

  it('opens with its own master key, and with no other', () =>
    withStore(async (store) => {
      await rememberVault(store, createVault(KEY));
      await rememberVault(store, createVault(KEY));
      await assert.rejects(rememberVault(store, createVault(Buffer.alloc(32, 2))), /sealed with another master key/);
      await rememberVault(store, createVault(KEY));
    }));

  it('gets a key at its first start, and keeps it', () =>
    withStore(async (store, source) => {
      const { keyId } = await openVault(source, store, true);
      assert.equal(createVault(readKeyFile(source.file)).keyId, keyId);
      assert.equal((await openVault(source, store, false)).keyId, keyId);
    }));

  it('gets no key by a command, nor in place of a missing one', () =>
    withStore(async (store, source) => {
      await assert.rejects(openVault(source, store, false), /the first start has not finished/);
      assert.ok(!existsSync(source.file));
      await openVault(source, store, true);
      rmSync(source.file);
      await assert.rejects(openVault(source, store, true), /master key of this store is missing/);
      assert.ok(!existsSync(source.file), 'the right one can be put there');
    }));

  it('has lost its secrets if the file has another key', () =>
    withStore(async (store, source) => {
      draftKey(source.file);
      nameDraft(source.file);
      const before = readFileSync(source.file, 'utf8');
      await assert.rejects(
        openVault(source, store, true),
        /the database is empty, but .* is the master key of an earlier database/,
      );
      assert.equal(readFileSync(source.file, 'utf8'), before);
    }));

  it('whose first start was interrupted during key creation uses that key, or creates one that is not needed yet', async () => {
    await withStore(async (store, source) => {
      draftKey(source.file);
      const { keyId } = await openVault(source, store, true);
      assert.equal(createVault(readKeyFile(source.file)).keyId, keyId);
    });
    await withStore(async (store, source) => {
      const { keyId } = createVault(draftKey(source.file));
      await rememberVault(store, createVault(readKeyFile(`${source.file}.new`)));
      assert.equal((await openVault(source, store, true)).keyId, keyId);
      assert.equal(createVault(readKeyFile(source.file)).keyId, keyId);
    });
  });

  it('gets a new key only if its own is lost, and stores its fingerprint before the file is renamed', () =>
    withStore(async (store, source) => {
      const first = await openVault(source, store, true);
      await assert.rejects(newVault(source, store), /nothing is lost/);
      const kept = readFileSync(source.file);
      writeFileSync(source.file, `${KEY.toString('base64')}\n`);
      await assert.rejects(newVault(source, store), /is the master key of another database: move it away first/);
      rmSync(source.file);
      const second = await newVault(source, store);
      await store.atomic(second.steps);
      // The power goes here.
      assert.equal((await openVault(source, store, false)).keyId, second.vault.keyId);
      assert.notEqual(second.vault.keyId, first.keyId);
      writeFileSync(source.file, kept);
      await assert.rejects(openVault(source, store, true), /sealed with another master key/);
    }));
});
