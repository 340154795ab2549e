/** Base64Ranges: over the wire to a real server, tried again where that helps, and into the log where there is no server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Mail } from '../../../core/contracts/mail.ts';
import mail from '../../../plugins/mail/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive } from '../../kit/gateway/drive.ts';
import { type FakeSmtp, startSmtp } from '../../kit/stand-ins/fake-smtp.ts';

const FROM = 'The Gateway <no-reply@gateway.example>';
const LETTER = { to: 'ann@example.com', subject: 'Hello', text: 'One line.\nAnother, with ümlauts.\n' };

function withServer(smtp: string, clock: FakeClock = fakeClock(), from: string = FROM): Promise<Driven> {
  return drive([mail], { clock, sections: { mail: { smtp, from } } });
}

/** Lets time pass until something is true that the network decides. */
async function until(holds: () => boolean, meanwhile: () => void = () => {}): Promise<void> {
  while (!holds()) {
    meanwhile();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('mail', () => {
  let server: FakeSmtp;
  before(async () => {
    server = await startSmtp();
  });
  after(() => server.close());

  it('hands a letter to the server, as it was written', async () => {
    const { use, stop } = await withServer(server.url);
    assert.equal(use(Mail).delivers, true);
    await use(Mail).send(LETTER);
    const letter = await server.letter();
    assert.equal(letter.from, 'no-reply@gateway.example');
    assert.deepEqual(letter.to, ['ann@example.com']);
    assert.equal(letter.head.get('from'), FROM);
    assert.equal(letter.head.get('to'), 'ann@example.com');
    assert.equal(letter.head.get('subject'), 'Hello');
    assert.equal(letter.head.get('auto-submitted'), 'auto-generated');
    assert.equal(letter.text, LETTER.text);
    await stop();
  });

  it('lets nobody write into the head of a letter', async () => {
    const { use, stop } = await withServer(server.url);
    await use(Mail).send({ ...LETTER, subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nanother body\u2028x' });
    const letter = await server.letter();
    assert.equal(letter.head.get('bcc'), undefined);
    assert.equal(letter.head.get('subject'), 'Hello Bcc: eve@example.com another body x');
    assert.deepEqual(letter.to, ['ann@example.com']);
    assert.equal(letter.text, LETTER.text);
    await stop();
  });

  it('sends to one address and nothing else', async () => {
    const { use, stop } = await withServer(server.url);
    const before = server.tries;
    for (const to of [
      'ann@example.com, eve@example.com',
      'ann@example.com\r\nBcc: eve@example.com',
      'Ann <ann@example.com>',
      '"ann eve@example.com"@example.com',
      'ann@example.com;eve@example.com',
      'ann@exаmple.com',
      'group: eve@example.com',
      'ann@',
      '',
      `${'a'.repeat(65)}@example.com`,
      `ann@${'example.'.repeat(40)}com`,
    ]) {
      await assert.rejects(use(Mail).send({ ...LETTER, to }), /not an email address/, to);
    }
    assert.equal(server.tries, before);
    await stop();
  });

  it('tries again what the server takes later, and not what it never takes', async () => {
    const clock = fakeClock();
    const { use, stop } = await withServer(server.url, clock);
    const before = server.tries;
    server.refuse(451, 421);
    let sent = false;
    const sending = use(Mail)
      .send(LETTER)
      .then(() => {
        sent = true;
      });
    await until(
      () => sent,
      () => clock.advance(1_000),
    );
    await sending;
    assert.equal(server.tries - before, 3);
    assert.equal((await server.letter()).text, LETTER.text);

    server.refuse(550);
    await assert.rejects(use(Mail).send(LETTER), /not this one/);
    assert.equal(server.tries - before, 4);
    await stop();
  });

  it('gives up after three tries', async () => {
    const clock = fakeClock();
    const { use, stop } = await withServer(server.url, clock);
    const before = server.tries;
    server.refuse(451, 451, 451);
    let failed: unknown;
    void use(Mail)
      .send(LETTER)
      .catch((error: unknown) => {
        failed = error;
      });
    await until(
      () => failed !== undefined,
      () => clock.advance(1_000),
    );
    assert.equal(server.tries - before, 3);
    await stop();
  });

  it('takes what waits to its end when it is stopped, without its pauses, and nothing new', async () => {
    const clock = fakeClock();
    const { use, stop } = await withServer(server.url, clock);
    server.refuse(451);
    const tries = server.tries;
    const sending = use(Mail).send(LETTER);
    await until(() => server.tries > tries);
    await stop();
    await sending;
    assert.equal((await server.letter()).text, LETTER.text);
    await assert.rejects(use(Mail).send(LETTER), /too many/);
  });

  it('holds no more letters than it can', async () => {
    const clock = fakeClock();
    // Nobody listens there: every letter waits for its second try.
    const { use, stop } = await withServer('smtp://127.0.0.1:1', clock);
    const letters = Array.from({ length: 204 }, () => use(Mail).send(LETTER));
    const outcomes = Promise.allSettled(letters);
    await assert.rejects(use(Mail).send(LETTER), /too many emails are waiting/);
    await stop();
    assert.ok(
      (await outcomes).every(({ status }) => status === 'rejected'),
      'nobody took any',
    );
  });

  it('says who it is where the server wants to know', async () => {
    const strict = await startSmtp({ login: { name: 'gate', password: 'p@ss word' } });
    try {
      const address = strict.url.replace('smtp://', 'smtp://gate:p%40ss%20word@');
      const { use, stop } = await withServer(address);
      await use(Mail).send(LETTER);
      assert.equal(strict.letters.length, 1);
      await stop();
      await assert.rejects((await withServer(strict.url)).use(Mail).send(LETTER), /./);
    } finally {
      await strict.close();
    }
  });

  it('tells no password to a server without TLS that is not on this machine', async () => {
    const strict = await startSmtp({ host: '127.0.0.2', login: { name: 'gate', password: 'secret word' } });
    try {
      const address = strict.url.replace('smtp://', 'smtp://gate:secret%20word@');
      const { use, stop } = await withServer(address);
      await assert.rejects(use(Mail).send(LETTER), /TLS/);
      assert.equal(strict.connections, 1);
      await stop();
      const plainly = await withServer(`${address}?requireTLS=false`);
      await plainly.use(Mail).send(LETTER);
      await plainly.stop();
    } finally {
      await strict.close();
    }
  });

  it('says what is wrong with its section', async () => {
    await assert.rejects(withServer(server.url, fakeClock(), ''), /mail\.from/);
    await assert.rejects(withServer(server.url, fakeClock(), 'somebody'), /mail\.from/);
    await assert.rejects(withServer('smtp://[', fakeClock()), /mail\.smtp/);
  });
});
