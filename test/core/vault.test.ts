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
import { openStore, rememberVault } from '../../core/store.ts';
import { createVault, masterKeyFile, readMasterKey } from '../../core/vault.ts';
import sqlite from '../../plugins/stores/sqlite/index.ts';
import fc from '../kit/fast-check.ts';
import { startGateway } from '../kit/gateway.ts';

const KEY = Buffer.alloc(32, 1);
const PLACE = 'totp.secret 7';

describe('a vault', () => {
  const vault = createVault(KEY);

  it('opens what it sealed, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (secret, place) => {
        // A lone surrogate is no text: it cannot be kept.
        fc.pre(Buffer.from(secret).toString() === secret);
        assert.equal(vault.open(place, vault.seal(place, secret)), secret);
      }),
    );
  });

  it('opens what another vault on the same master key sealed', () => {
    assert.equal(createVault(Buffer.from(KEY)).open(PLACE, vault.seal(PLACE, 'a secret')), 'a secret');
  });

  it('seals the same to something else each time, in text that holds neither the secret nor its place', () => {
    const sealed = Array.from({ length: 100 }, () => vault.seal(PLACE, 'a secret'));
    assert.equal(new Set(sealed).size, 100);
    for (const text of sealed) {
      assert.match(text, /^v1\.[0-9a-f]{16}\.[A-Za-z0-9_-]+$/);
      const bytes = Buffer.from(text.split('.')[2]!, 'base64url').toString('latin1');
      assert.equal(bytes.includes('a secret') || bytes.includes(PLACE), false);
    }
  });

  it('opens nothing in another place: rows cannot be exchanged', () => {
    const sealed = vault.seal(PLACE, 'a secret');
    for (const place of ['totp.secret 8', 'totp_pending.secret 7', 'totp.secret 7 ', '']) {
      assert.throws(() => vault.open(place, sealed), place);
    }
  });

  it('opens nothing of which a byte was changed, cut off or added', () => {
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

  it('says what is wrong with what it never sealed', () => {
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

  it('names its master key without telling anything of it', () => {
    assert.match(vault.keyId, /^[0-9a-f]{16}$/);
    assert.equal(createVault(Buffer.from(KEY)).keyId, vault.keyId);
    assert.notEqual(createVault(Buffer.alloc(32, 2)).keyId, vault.keyId);
    assert.equal(KEY.toString('hex').includes(vault.keyId), false);
  });
});

describe('the master key of the environment', () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));

  it('is 32 bytes in base64 or hexadecimal, as they are written', () => {
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

  it('is nothing else: too short, too long, or a sentence that could pass for one', () => {
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

describe('the master key beside the database', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  after(() => rmSync(dir, { recursive: true }));

  it('is made once, for its owner only, and stays', () => {
    const file = join(dir, 'made.key');
    const key = masterKeyFile(file);
    assert.equal(key.length, 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(masterKeyFile(file), key);
    assert.notDeepEqual(masterKeyFile(join(dir, 'other.key')), key);
    assert.deepEqual(readMasterKey(readFileSync(file, 'utf8')), key, 'it may be moved to the environment');
    assert.deepEqual(readdirSync(dir).sort(), ['made.key', 'other.key'], 'and nothing else is left');
  });

  it('is made anew where the power went while it was', () => {
    const file = join(dir, 'cut-off.key');
    writeFileSync(`${file}.new`, 'AAAA', { mode: 0o600 });
    assert.equal(masterKeyFile(file).length, 32);
  });

  it('is refused where others may read it', () => {
    const file = join(dir, 'open.key');
    masterKeyFile(file);
    for (const mode of [0o640, 0o604, 0o660, 0o644]) {
      chmodSync(file, mode);
      assert.throws(() => masterKeyFile(file), { message: `others may read ${file}: chmod 600 it` });
    }
    chmodSync(file, 0o400);
    assert.equal(masterKeyFile(file).length, 32);
  });

  it('is refused, and left as it is, where it holds something else', () => {
    const file = join(dir, 'wrong.key');
    for (const text of ['', 'not a key\n', `${KEY.subarray(1).toString('base64')}\n`]) {
      writeFileSync(file, text, { mode: 0o600 });
      assert.throws(() => masterKeyFile(file), /holds no master key/);
      assert.equal(readFileSync(file, 'utf8'), text);
    }
  });
});

describe('a store', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  after(() => rmSync(dir, { recursive: true }));

  it('opens with the master key it was sealed with, and with no other', async () => {
    const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
    const store = await openStore({ driver: sqlite, file: join(dir, 'turnpike.db'), log });
    try {
      await rememberVault(store, createVault(KEY));
      await rememberVault(store, createVault(KEY));
      await assert.rejects(rememberVault(store, createVault(Buffer.alloc(32, 2))), /sealed with another master key/);
      await rememberVault(store, createVault(KEY));
    } finally {
      await store.close();
    }
  });

  it('gets no new master key in the place of one that is missing', async () => {
    const home = mkdtempSync(join(dir, 'restored-'));
    await (await startGateway({ dir: home })).stop();
    const file = join(home, 'turnpike.db.key');
    rmSync(file);
    await assert.rejects(startGateway({ dir: home }), /master key of this store is missing/);
    assert.ok(!existsSync(file), 'the right one can be put there');
  });
});
