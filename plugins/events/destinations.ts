/** The destinations: a webhook, files, and storage with the API of S3. */
import { createHmac, randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/plugin.ts';
import { byteSize } from '../../core/sdk.ts';
import { type Destination, Refused } from './delivery.ts';
import type { FileSection, S3Section, WebhookSection } from './section.ts';

const ANSWER_MS = 10_000;
const DAY_MS = 86_400_000;

/** Statuses that say that the batch is wrong. Others may change: a key that is replaced, a receiver that is deployed again. */
const FINAL = new Set([400, 413, 422]);

/** Throws unless the status is a success; `Refused` if it will not become one. */
function checkStatus(status: number): void {
  if (status >= 200 && status <= 299) return;
  const message = `the server responded with status ${status}`;
  throw FINAL.has(status) ? new Refused(message) : new Error(message);
}

/**
 * Posts `{"events": […]}`. The signature is that of `TIME.BODY` with HMAC-SHA256, as `t=TIME,v1=HEX`; TIME is in unix seconds, so that a receiver
 * can refuse old requests.
 */
export function webhook({ url, secret, headers }: WebhookSection, clock: Clock): Destination {
  return {
    name: 'webhook',
    atOnce: 100,
    waitMs: 1_000,
    async deliver(events) {
      const body = `{"events":[${events.join(',')}]}`;
      const time = Math.floor(clock.now() / 1_000);
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      const { status, body: answer } = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'user-agent': 'turnpike',
          ...headers,
          'content-type': 'application/json',
          ...(secret !== '' && { 'x-turnpike-signature': `t=${time},v1=${signature}` }),
        },
        body,
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await answer?.cancel();
      checkStatus(status);
    },
  };
}

const FILE_NAME = /^calls-(\d{4}-\d{2}-\d{2})(?:\.(\d+))?\.jsonl$/;

/** Appends to `calls-2026-11-26.jsonl`, then `calls-2026-11-26.1.jsonl`, and deletes old files. Several processes may write to one folder. */
export function files({ folder, maxBytes, keepDays }: FileSection, clock: Clock): Destination {
  const most = byteSize(maxBytes);
  let day = '';
  let part = 0;

  const nameOf = (): string => `calls-${day}${part === 0 ? '' : `.${part}`}.jsonl`;

  async function removeOld(): Promise<void> {
    if (keepDays === 0) return;
    const oldest = new Date(clock.now() - keepDays * DAY_MS).toISOString().slice(0, 10);
    for (const name of await readdir(folder)) {
      const [, its] = FILE_NAME.exec(name) ?? [];
      if (its !== undefined && its < oldest) await unlink(join(folder, name));
    }
  }

  return {
    name: 'file',
    atOnce: 1_000,
    waitMs: 1_000,
    async deliver(events) {
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      if (today !== day) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        day = today;
        part = 0;
        await removeOld();
      }
      while ((await sizeOf(join(folder, nameOf()))) >= most) part += 1;
      await appendFile(join(folder, nameOf()), `${events.join('\n')}\n`, { mode: 0o600 });
    },
  };
}

/** 0 if it does not exist. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Writes an object for each batch: `PREFIX2026/11/26/10-00-00-UUID.jsonl`. */
export function s3({ url, prefix, region, accessKey, secretKey }: S3Section, clock: Clock): Destination {
  return {
    name: 's3',
    atOnce: 1_000,
    waitMs: 60_000,
    async deliver(events) {
      const { AwsClient } = await import('aws4fetch');
      const client = new AwsClient({
        accessKeyId: accessKey,
        secretAccessKey: secretKey,
        service: 's3',
        region,
        retries: 0,
      });
      const [date = '', time = ''] = new Date(clock.now()).toISOString().slice(0, 19).split('T');
      const name = `${prefix}${date.replaceAll('-', '/')}/${time.replaceAll(':', '-')}-${randomUUID()}.jsonl`;
      const { status, body } = await client.fetch(`${url.replace(/\/$/, '')}/${name}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/x-ndjson' },
        body: `${events.join('\n')}\n`,
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await body?.cancel();
      checkStatus(status);
    },
  };
}
