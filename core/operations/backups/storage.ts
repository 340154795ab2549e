/** Where backups are stored: a folder, or a bucket of S3-compatible object storage. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import { type Plan, proxiesOf } from '../../assembly/assemble.ts';
import type { BucketSection } from '../../config/backup-section.ts';
import type { Host } from '../../contracts/host.ts';
import { createFetch } from '../../outgoing/fetch.ts';
import { removeOld } from '../config-editing/replace-file.ts';
import { OLD_MS } from './left-behind.ts';
import { backupOfName } from './names.ts';

/** A place for backups. Names are those of `nameOfBackup`. */
export interface BackupStorage {
  /** For display, without secrets: the folder, or `bucket/prefix`. */
  readonly name: string;
  /** The names of all files there. */
  list(): Promise<readonly string[]>;
  /** Stores a copy of a file. Nothing is visible under the name before it is complete. */
  put(name: string, file: string): Promise<void>;
  /** Writes a stored file to a new local one, which only this user can read. */
  get(name: string, file: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The storage of `backup.to`. Buckets are reached through the outgoing proxy; that the gateway cannot use a variable is in its own log. */
export function openStorage(to: string | BucketSection, plan: Plan): BackupStorage {
  if (typeof to === 'string') return folderStorage(resolve(plan.file.dir, to));
  return bucketStorage(to, createFetch(proxiesOf(plan, () => {})));
}

function folderStorage(folder: string): BackupStorage {
  return {
    name: folder,
    async list() {
      try {
        return await readdir(folder);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
    async put(name, file) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await removeOld(folder, Date.now() - OLD_MS, isPart);
      const part = join(folder, `.${name}.part`);
      try {
        await copyFile(file, part);
        const handle = await open(part, 'r+');
        await handle.chmod(0o600);
        await handle.sync();
        await handle.close();
        await rename(part, join(folder, name));
      } finally {
        await rm(part, { force: true });
      }
    },
    async get(name, file) {
      await copyFile(join(folder, name), file);
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

/** A backup that was not stored completely. */
function isPart(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.part') && backupOfName(name.slice(1, -'.part'.length)) !== undefined;
}

const MIB = 1_024 ** 2;
/** Larger files are uploaded in parts. */
const PART_BYTES = 16 * MIB;
/** The limit of the protocol is 10,000. */
const MOST_PARTS = 9_000;
/** For one request: a part, or a whole download. */
const REQUEST_MS = 600_000;
const DOWNLOAD_MS = 6 * 3_600_000;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;

interface Ask {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly timeoutMs?: number;
}

/** Addresses have the bucket in their path, which every such service supports. */
function bucketStorage(section: BucketSection, fetch: Host['fetch']): BackupStorage {
  const { endpoint, bucket, prefix = '', region = 'us-east-1', accessKey, secretKey } = section;
  const client = new AwsClient({ accessKeyId: accessKey, secretAccessKey: secretKey, region, service: 's3' });
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;

  async function once({ method, key = '', query = {}, body, timeoutMs = REQUEST_MS }: Ask): Promise<Response> {
    const url = new URL(`${base}/${key.split('/').map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    // Signed with the content, so that a change on the way is refused.
    const headers = {
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    };
    const request = { method, ...(body !== undefined && { body: new Uint8Array(body) }) };
    const signed = await client.sign(url.href, { ...request, headers });
    return fetch(signed.url, {
      ...request,
      headers: Object.fromEntries(signed.headers),
      signal: AbortSignal.timeout(timeoutMs),
    });
  }

  /** Tried again if the service cannot be reached, fails or is overloaded. Throws for every other status than 2xx. */
  async function ask(question: Ask): Promise<Response> {
    for (let tries = 1, pauseMs = FIRST_PAUSE_MS; ; tries++, pauseMs *= 2) {
      let failure: Error;
      try {
        const answer = await once(question);
        if (answer.ok) return answer;
        failure = new Error(`${base} refused: ${answer.status} ${codeIn(await answer.text())}`.trimEnd());
        if (answer.status < 500 && answer.status !== 429) throw new Final(failure.message);
      } catch (error) {
        if (error instanceof Final) throw error;
        failure = new Error(`${base} cannot be reached: ${reasonOf(error)}`, { cause: error });
      }
      if (tries === TRIES) throw failure;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }

  async function putInParts(key: string, file: string, size: number): Promise<void> {
    const started = await (await ask({ method: 'POST', key, query: { uploads: '' } })).text();
    const uploadId = textIn(started, 'UploadId')[0];
    if (uploadId === undefined) throw new Error(`${base} did not start an upload`);
    const handle = await open(file, 'r');
    try {
      const length = Math.max(PART_BYTES, Math.ceil(size / MOST_PARTS));
      const tags: string[] = [];
      for (let at = 0; at < size; at += length) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(length, size - at)), 0, undefined, at);
        const query = { partNumber: String(tags.length + 1), uploadId };
        const answer = await ask({ method: 'PUT', key, query, body: buffer.subarray(0, bytesRead) });
        tags.push(answer.headers.get('etag') ?? '');
      }
      const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
      const body = Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`);
      // A failure can follow a status of 200.
      const done = await (await ask({ method: 'POST', key, query: { uploadId }, body })).text();
      if (done.includes('<Error>')) throw new Error(`${base} refused: ${codeIn(done)}`);
    } catch (error) {
      // Parts of an upload that is not completed are paid for.
      await ask({ method: 'DELETE', key, query: { uploadId } }).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
  }

  return {
    name: `${bucket}/${prefix}`,
    async list() {
      const names: string[] = [];
      for (let from: string | undefined = ''; from !== undefined; ) {
        const query = { 'list-type': '2', prefix, ...(from !== '' && { 'continuation-token': from }) };
        const page: string = await (await ask({ method: 'GET', query })).text();
        names.push(...textIn(page, 'Key').map((key) => key.slice(prefix.length)));
        from = textIn(page, 'NextContinuationToken')[0];
      }
      return names;
    },
    async put(name, file) {
      const { size } = await stat(file);
      if (size > PART_BYTES) return putInParts(prefix + name, file, size);
      const handle = await open(file, 'r');
      try {
        await ask({ method: 'PUT', key: prefix + name, body: await handle.readFile() });
      } finally {
        await handle.close();
      }
    },
    async get(name, file) {
      const { body } = await ask({ method: 'GET', key: prefix + name, timeoutMs: DOWNLOAD_MS });
      const content = body === null ? Readable.from([]) : Readable.fromWeb(body);
      await pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    },
    async remove(name) {
      await ask({ method: 'DELETE', key: prefix + name });
    },
  };
}

/** The service has answered: asking again changes nothing. */
class Final extends Error {}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  const inner = cause instanceof Error && cause.message !== '' ? cause : error;
  return inner instanceof Error ? inner.message : String(inner);
}

/** `NoSuchBucket: The bucket does not exist` of an error document. */
function codeIn(xml: string): string {
  return [textIn(xml, 'Code')[0], textIn(xml, 'Message')[0]].filter((text) => text !== undefined).join(': ');
}

/** The text of every element of a name. The documents of this protocol have no attributes or nesting in these. */
function textIn(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!),
  );
}
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
