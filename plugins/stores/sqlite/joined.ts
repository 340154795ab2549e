/** The line from a process that has joined a store to the writing thread of the one that owns it. */
import { connect as connectTo } from 'node:net';
import { frame, readFrames } from './frames.ts';
import type { FromWriter } from './wire.ts';
import type { Connect } from './writes.ts';

/** Gets the line through the unix socket at `path`. It looks like a thread, whose end is that of the connection. */
export function threadBehind(path: string): Connect {
  return (events) => {
    const socket = connectTo(path);
    let failure: Error | undefined;
    let isClosing = false;
    socket.on(
      'data',
      readFrames((message) => events.message(message as FromWriter)),
    );
    socket.on('error', (error) => {
      failure = error;
    });
    return {
      post(message) {
        isClosing ||= message === 'close';
        if (message === 'close') socket.end();
        else socket.write(frame(message));
      },
      ended: new Promise((resolve) => {
        socket.on('close', () => {
          events.ended(failure ?? (isClosing ? undefined : new Error('its process closed the connection')));
          resolve();
        });
      }),
    };
  };
}
