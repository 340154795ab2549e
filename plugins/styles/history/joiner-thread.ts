/** The worker thread for large stored responses, so that they do not block other calls. */
import { parentPort } from 'node:worker_threads';
import { GatewayError } from '../../../core/plugin.ts';
import type { FromThread, ToThread } from './joiner.ts';
import { work } from './joining.ts';

const port = parentPort!;

port.on('message', (message: ToThread) => {
  if (message === 'close') {
    port.close();
    return;
  }
  const { number } = message;
  let reply: FromThread;
  try {
    reply = { number, done: work(message.work) };
  } catch (error) {
    if (error instanceof GatewayError) {
      const { status, code, message: text, param } = error;
      reply = { number, refusal: { status, code, message: text, param } };
    } else reply = { number, failure: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(reply, buffersOf(reply));
});

/** The buffers that are transferred instead of copied. */
function buffersOf({ done }: FromThread): ArrayBuffer[] {
  if (done === undefined || !('bytes' in done)) return [];
  return [done.bytes, 'resolved' in done ? done.resolved : undefined].flatMap((bytes) =>
    bytes !== undefined && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer as ArrayBuffer] : [],
  );
}
