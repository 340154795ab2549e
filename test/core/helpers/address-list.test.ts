import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import {
  canonicalAddress,
  canonicalRange,
  clientAddress,
  createAddressList,
} from '../../../core/helpers/address-list.ts';
import fc from '../../kit/fast-check.ts';

describe('an IP address', () => {
  it('is equal in every notation', () => {
    for (const text of ['1.2.3.4', '::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:0102:0304', '0:0:0:0:0:ffff:1.2.3.4']) {
      assert.equal(canonicalAddress(text), '1.2.3.4', text);
    }
    for (const text of ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', '2001:db8::0.0.0.1']) {
      assert.equal(canonicalAddress(text), '2001:db8::1', text);
    }
    assert.equal(canonicalAddress('::'), '::');
    assert.equal(canonicalAddress('0:0:0:0:0:0:0:1'), '::1');
    assert.equal(canonicalAddress('1:0:0:2:0:0:0:3'), '1:0:0:2::3');
    assert.equal(canonicalAddress('1:0:0:2:3:0:0:4'), '1::2:3:0:0:4');
    assert.equal(canonicalAddress('1:0:2:3:4:5:6:7'), '1:0:2:3:4:5:6:7');
    assert.equal(canonicalAddress('a0:0:0:1:0:0:0:0a'), 'a0:0:0:1::a');
  });

  it('is refused if it only looks like one', () => {
    const texts = [
      '',
      ' ',
      '1.2.3',
      '1.2.3.4.5',
      '01.2.3.4',
      '1.2.3.256',
      '1.2.3.4 ',
      '1.2.3.4:80',
      '[::1]',
      '::1%eth0',
    ];
    for (const text of [...texts, 'fe80::1%1', ':::', '1::2::3', '::ffff:1.2.3', 'unknown', '0x7f.1', '2130706433']) {
      assert.equal(canonicalAddress(text), undefined, text);
    }
  });

  it('has one normal form, that of the URL standard', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), sparseV6), (text) => {
        const canonical = canonicalAddress(text)!;
        assert.equal(canonicalAddress(canonical), canonical);
        const standard = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        if (!standard.startsWith('::ffff:')) assert.equal(canonical, standard);
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        assert.equal(canonicalAddress(text), text);
        assert.equal(canonicalAddress(`::ffff:${text}`), text);
      }),
    );
  });
});

/** Addresses with many zero groups, where the shortening happens. */
const sparseV6 = fc
  .array(fc.constantFrom('0', '0', '0', '1', 'a0', 'ffff'), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.join(':'));

describe('an address range', () => {
  it('has one normal form', () => {
    const cases = {
      '10.0.0.0/8': '10.0.0.0/8',
      '192.0.2.7': '192.0.2.7/32',
      '0.0.0.0/0': '0.0.0.0/0',
      '::/0': '::/0',
      '::1': '::1/128',
      '2001:0DB8::/32': '2001:db8::/32',
      '::ffff:10.0.0.0/104': '10.0.0.0/8',
      '::ffff:0:0/96': '0.0.0.0/0',
      '::ffff:192.0.2.7': '192.0.2.7/32',
    };
    for (const [text, cidr] of Object.entries(cases)) assert.deepEqual(spelling(text), cidr, text);
  });

  it('is refused if it is invalid, with a message about valid ones', () => {
    assert.match(spelling('10.0.0.5/8'), /10\.0\.0\.0\/8 for the range or 10\.0\.0\.5\/32 for the address/);
    assert.match(spelling('2001:db8::1/32'), /2001:db8::\/32 for the range or 2001:db8::1\/128/);
    assert.match(spelling('10.0.0.0/33'), /0 to 32/);
    assert.match(spelling('::/129'), /0 to 128/);
    for (const text of ['10.0.0.0/', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8 ', '::/1e1']) {
      assert.match(spelling(text), /behind the slash/, text);
    }
    for (const text of ['', '/8', 'localhost', '10.0.0/8', 'fe80::%eth0/64', '*']) {
      assert.match(spelling(text), /not an address or a range/, text);
    }
  });

  it('contains its addresses in every notation, and no others', () => {
    const office = createAddressList(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
    for (const ip of ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3', '::ffff:a01:203', '2001:db8::1', '192.0.2.7']) {
      assert.equal(office(ip), true, ip);
    }
    for (const ip of [
      '9.255.255.255',
      '11.0.0.0',
      '2001:db9::',
      '192.0.2.8',
      '::a01:203',
      '',
      'unknown',
      '10.1.2.3%1',
    ]) {
      assert.equal(office(ip), false, ip);
    }
    assert.equal(createAddressList([])('127.0.0.1'), false);
    assert.throws(() => createAddressList(['10.0.0.5/8']), /begins inside its own range/);
  });

  it('of all IPv6 addresses contains no IPv4 address, and the reverse', () => {
    const [all4, all6] = [createAddressList(['0.0.0.0/0']), createAddressList(['::/0'])];
    assert.deepEqual([all4('1.2.3.4'), all6('1.2.3.4')], [true, false]);
    assert.deepEqual([all4('::ffff:1.2.3.4'), all6('::ffff:1.2.3.4')], [true, false]);
    assert.deepEqual([all4('2001:db8::1'), all6('2001:db8::1')], [false, true]);
  });

  it('agrees with the block list of Node.js', () => {
    const near = (family: 'ipv4' | 'ipv6', address: fc.Arbitrary<string>, widest: number) =>
      fc.property(address, address, fc.nat(widest), (base, ip, length) => {
        const reference = new BlockList();
        reference.addSubnet(base, length, family);
        const text = spelling(`${base}/${length}`);
        // The property is about ranges; of an address inside one, the message names the range.
        const cidr = /write (\S+)/.exec(text)?.[1] ?? text;
        const contains = createAddressList([cidr]);
        assert.equal(contains(ip), reference.check(ip, family), `${cidr} ${ip}`);
        assert.equal(contains(base), true);
      });
    fc.assert(near('ipv4', fc.ipV4(), 32));
    fc.assert(
      near(
        'ipv4',
        fc.tuple(fc.nat(3), fc.nat(3)).map(([a, b]) => `10.0.${a}.${b}`),
        32,
      ),
    );
    const plain = sparseV6.filter((text) => !canonicalAddress(text)!.includes('.'));
    fc.assert(near('ipv6', plain, 128));
  });
});

function spelling(text: string): string {
  const range = canonicalRange(text);
  return 'problem' in range ? range.problem : range.cidr;
}

describe("the client's address", () => {
  const nobody = createAddressList([]);
  const proxies = createAddressList(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);

  it('is the peer of the socket if no proxy is trusted, whatever the headers say', () => {
    assert.equal(clientAddress('203.0.113.9', '198.51.100.1', nobody), '203.0.113.9');
    assert.equal(clientAddress('127.0.0.1', '198.51.100.1', nobody), '127.0.0.1');
    assert.equal(clientAddress('::ffff:203.0.113.9', undefined, nobody), '203.0.113.9');
    assert.equal(clientAddress('fe80::1%eth0', undefined, nobody), 'fe80::1');
    assert.equal(clientAddress('', undefined, nobody), '');
  });

  it('is the peer of the socket if that is not a trusted proxy', () => {
    assert.equal(clientAddress('203.0.113.9', '198.51.100.1', proxies), '203.0.113.9');
  });

  it('is what the last trusted proxy saw, not what the client claims', () => {
    assert.equal(clientAddress('127.0.0.1', '198.51.100.1', proxies), '198.51.100.1');
    assert.equal(clientAddress('127.0.0.1', '6.6.6.6, 198.51.100.1', proxies), '198.51.100.1');
    assert.equal(clientAddress('127.0.0.1', '6.6.6.6, 198.51.100.1,10.0.0.7', proxies), '198.51.100.1');
    assert.equal(
      clientAddress('::ffff:127.0.0.1', '127.0.0.1, 198.51.100.1, ::ffff:10.0.0.7', proxies),
      '198.51.100.1',
    );
    assert.equal(clientAddress('2001:db8::7', 'garbage, 198.51.100.1', proxies), '198.51.100.1');
  });

  it('is the farthest hop if all are trusted', () => {
    assert.equal(clientAddress('127.0.0.1', '10.0.0.9, 10.0.0.7', proxies), '10.0.0.9');
  });

  it('is the peer of the socket if the trusted part of the header has anything but addresses', () => {
    const garbage = [
      '',
      ' ',
      ',',
      'unknown',
      '_hidden',
      '198.51.100.1:443',
      '[2001:db8::1]',
      '"198.51.100.1"',
      '1.2.3.4 5.6.7.8',
    ];
    for (const header of [
      ...garbage,
      '198.51.100.1,',
      '198.51.100.1,,10.0.0.7',
      `${'1'.repeat(10_000)}`,
      'fe80::1%eth0',
    ]) {
      assert.equal(clientAddress('127.0.0.1', header, proxies), '127.0.0.1', header.slice(0, 40));
    }
  });

  it('never depends on header values before the first untrusted address', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), fc.array(fc.constantFrom('10.0.0.7', '127.0.0.1')), (claim, client, hops) => {
        fc.pre(!proxies(client));
        assert.equal(clientAddress('127.0.0.1', [claim, client, ...hops].join(', '), proxies), client);
      }),
    );
  });
});
