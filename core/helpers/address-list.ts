/** Internet addresses: canonical spelling, ranges, and the client address of a request. */
import { isIPv4, isIPv6 } from 'node:net';

/** An address as 128 bits. IPv4 is mapped into IPv6, so that every spelling of an address gives the same value. */
type Bits = bigint;

/** The upper 96 bits of an IPv4 address: `::ffff:0:0/96`. */
const MAPPED = 0xffffn;

/** A range of addresses in canonical spelling (`10.0.0.0/8`, `192.0.2.7/32`, `2001:db8::/32`). */
interface AddressRange {
  readonly cidr: string;
  readonly contains: (address: Bits) => boolean;
}

/** Why a text is not a valid range, and how to correct it. */
export interface RangeProblem {
  readonly problem: string;
  /** The range that the text begins inside of, in canonical spelling. */
  readonly within?: string;
}

/** The canonical spelling of an address, or undefined: IPv6 by RFC 5952, mapped IPv4 as IPv4. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const bits = readBits(text);
  return bits === undefined ? undefined : writeBits(bits);
}

/** The canonical spelling of a range such as `10.0.0.0/8` or of a single address (`192.0.2.7/32`). */
export function canonicalRange(text: string): { readonly cidr: string } | RangeProblem {
  return readRange(text);
}

/** True if an address is in one of the ranges; false if the text is not an address. Throws if a range is invalid. */
export function createAddressList(cidrs: readonly string[]): (ip: string) => boolean {
  if (cidrs.length === 0) return () => false;
  const ranges = cidrs.map((cidr) => {
    const range = readRange(cidr);
    if ('problem' in range) throw new Error(range.problem);
    return range;
  });
  return (ip) => {
    const bits = readBits(ip);
    return bits !== undefined && ranges.some((range) => range.contains(bits));
  };
}

/**
 * The client address of a request: the socket's peer or, behind trusted proxies, the last untrusted address in
 * `X-Forwarded-For`. Read from the right, because the client can forge everything left of the first untrusted address.
 * A header that contains anything except addresses is ignored.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: (ip: string) => boolean,
): string {
  // The zone of a link-local peer names a local interface.
  const socket = canonicalAddress(peer.replace(/%.*$/, '')) ?? peer;
  if (forwardedFor === undefined || !trusted(socket)) return socket;
  let client = socket;
  for (const hop of forwardedFor.split(',').reverse()) {
    const address = canonicalAddress(hop.trim());
    if (address === undefined) return socket;
    client = address;
    if (!trusted(address)) break;
  }
  return client;
}

function readRange(text: string): AddressRange | RangeProblem {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const bits = readBits(address);
  if (bits === undefined) return { problem: `"${text}" is not an address or a range such as 10.0.0.0/8` };
  const widest = isIPv4(address) ? 32 : 128;
  const length = slash < 0 ? widest : readLength(text.slice(slash + 1), widest);
  if (length === undefined) return { problem: `"${text}": the number behind the slash must be 0 to ${widest}` };
  const free = BigInt(widest - length);
  const base = (bits >> free) << free;
  if (base !== bits) {
    const [first, alone] = [writeRange(base, length, widest), writeRange(bits, widest, widest)];
    return {
      problem: `"${text}" begins inside its own range; write ${first} for the range or ${alone} for the address`,
      within: first,
    };
  }
  // A wide IPv6 range that happens to contain the mapped addresses matches IPv6 only.
  const family = isMapped(bits) && length >= widest - 32;
  const prefix = bits >> free;
  return {
    cidr: writeRange(bits, length, widest),
    contains: (other) => other >> free === prefix && isMapped(other) === family,
  };
}

const isMapped = (bits: Bits): boolean => bits >> 32n === MAPPED;

function readLength(text: string, widest: number): number | undefined {
  const length = /^(0|[1-9]\d{0,2})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return length <= widest ? length : undefined;
}

/** Undefined for anything except a plain address: a zone (`fe80::1%eth0`) has no meaning on another machine. */
function readBits(text: string): Bits | undefined {
  if (isIPv4(text)) return (MAPPED << 32n) | readQuad(text);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const quad = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : '';
  const hex = quad === '' ? text : text.slice(0, -quad.length) + inGroups(readQuad(quad), 2);
  const [before = '', after] = hex.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function readQuad(text: string): bigint {
  return text.split('.').reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

function writeBits(bits: Bits): string {
  if (isMapped(bits)) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = inGroups(bits, 8);
  // The longest run of zero groups becomes `::`; the first of two equally long ones.
  let run = '';
  for (const [zeros] of groups.matchAll(/\b0(:0)+\b/g)) if (zeros.length > run.length) run = zeros;
  if (run === '') return groups;
  const at = groups.search(new RegExp(`\\b${run}\\b`));
  return `${groups.slice(0, at).replace(/:$/, '')}::${groups.slice(at + run.length).replace(/^:/, '')}`;
}

function writeRange(bits: Bits, length: number, widest: number): string {
  // A mapped address written as IPv6 is still IPv4.
  const mapped = isMapped(bits) && widest - length <= 32;
  return `${writeBits(bits)}/${mapped ? 32 - (widest - length) : length}`;
}

/** The lowest `count` groups of 16 bits, in hexadecimal. */
function inGroups(bits: bigint, count: number): string {
  return Array.from({ length: count }, (_, i) => ((bits >> BigInt(16 * (count - 1 - i))) & 0xffffn).toString(16)).join(
    ':',
  );
}
