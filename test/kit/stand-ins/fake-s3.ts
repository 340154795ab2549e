/** Object storage that speaks the protocol of S3: it checks every signature itself, keeps objects in memory, and fails as a test tells it to. */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A running service with one bucket. */
export interface FakeS3 {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** The section `backup.to` for it. */
  readonly section: Readonly<Record<string, string>>;
  /** By key. */
  readonly objects: Map<string, Buffer>;
  /** Every request: `PUT /bucket/key`. */
  readonly requests: readonly string[];
  /** Answers the next requests with these statuses, one each. */
  fail(...statuses: readonly number[]): void;
  close(): Promise<void>;
}

const BUCKET = 'safe';
const REGION = 'eu-test-1';
const ACCESS_KEY = 'AKIDTEST';
const SECRET_KEY = 'the-secret-of-the-bucket';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/** Starts it. `pageSize`: how many keys a list has at most. */
export async function startS3({ pageSize = 2 } = {}): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Buffer[]>();
  const requests: string[] = [];
  const failures: number[] = [];
  const server = createServer(async (request, answer) => {
    const body = await buffer(request);
    const url = new URL(request.url!, 'http://s3');
    requests.push(`${request.method} ${url.pathname}`);
    const refuse = (status: number, code: string): void => {
      answer.writeHead(status).end(`<Error><Code>${code}</Code><Message>as told</Message></Error>`);
    };
    const failure = failures.shift();
    if (failure !== undefined) return refuse(failure, 'SlowDown');
    if (!isSigned(request, url, body)) return refuse(403, 'SignatureDoesNotMatch');
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
    const key = rest.join('/');
    if (bucket !== BUCKET) return refuse(404, 'NoSuchBucket');
    const { searchParams: query } = url;
    const uploadId = query.get('uploadId') ?? '';
    if (request.method === 'GET' && key === '') {
      const prefix = query.get('prefix') ?? '';
      const after = query.get('continuation-token') ?? '';
      const keys = [...objects.keys()].filter((each) => each.startsWith(prefix) && each > after).sort();
      const page = keys.slice(0, pageSize);
      const next = keys.length > pageSize ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
      const contents = page.map((each) => `<Contents><Key>${each}</Key></Contents>`).join('');
      answer.end(`<ListBucketResult>${contents}${next}</ListBucketResult>`);
    } else if (request.method === 'POST' && query.has('uploads')) {
      uploads.set(String(uploads.size + 1), []);
      answer.end(`<InitiateMultipartUploadResult><UploadId>${uploads.size}</UploadId></InitiateMultipartUploadResult>`);
    } else if (request.method === 'PUT' && uploadId !== '') {
      uploads.get(uploadId)![Number(query.get('partNumber')) - 1] = body;
      answer.writeHead(200, { etag: `"${sha256(body)}"` }).end();
    } else if (request.method === 'POST') {
      const parts = uploads.get(uploadId)!;
      const named = [...body.toString().matchAll(/<ETag>"([0-9a-f]+)"<\/ETag>/g)].map(([, tag]) => tag);
      if (named.join() !== parts.map(sha256).join()) return refuse(400, 'InvalidPart');
      objects.set(key, Buffer.concat(parts));
      answer.end('<CompleteMultipartUploadResult/>');
    } else if (request.method === 'PUT') {
      objects.set(key, body);
      answer.end();
    } else if (request.method === 'DELETE') {
      objects.delete(key);
      answer.writeHead(204).end();
    } else {
      const object = objects.get(key);
      if (object === undefined) return refuse(404, 'NoSuchKey');
      answer.end(object);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    section: {
      endpoint: url,
      bucket: BUCKET,
      prefix: 'gate/',
      region: REGION,
      accessKey: ACCESS_KEY,
      secretKey: SECRET_KEY,
    },
    objects,
    requests,
    fail: (...statuses) => void failures.push(...statuses),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Signature version 4, as "Authenticating Requests: Using the Authorization Header" of the S3 documentation has it. */
function isSigned({ method, headers }: IncomingMessage, { pathname, searchParams }: URL, body: Buffer): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/([^/]+)\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=(.+)$/.exec(
      headers.authorization ?? '',
    );
  if (match === null) return false;
  const [, accessKey, scope = '', region, signed = '', signature] = match;
  const hash = String(headers['x-amz-content-sha256']);
  if (accessKey !== ACCESS_KEY || region !== REGION || hash !== sha256(body)) return false;
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, pathname, query.join('&'), lines.join(''), signed, hash].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${SECRET_KEY}`);
  return hmac(key, toSign).toString('hex') === signature;
}
