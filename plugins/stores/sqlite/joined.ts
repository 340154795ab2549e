/** The connection from a process that joined a store to the writing thread of its owner. */
import { connect as connectTo } from 'node:net';
import { frame, readFrames } from './frames.ts';
import type { FromWriter } from './wire.ts';
import type { Connect } from './writes.ts';

/** Connects to the unix socket at `path`. The connection has the interface of a worker thread, which exits when it is closed. */
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
