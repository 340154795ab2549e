/** The socket next to the database, where the command line reaches a running gateway. One line of JSON each way. */
import { lstatSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { listenPrivately, socketPath } from '../../helpers/private-socket.ts';
import type { CommandLine, CommandResult } from './command-line.ts';

/** Maximum length of a command line. Its standard input may contain the body of a call, as JSON. */
const MAX_LINE = 64 * 1_024 * 1_024;

/** The path of the control socket of a database. */
export function controlPath(storeFile: string): string {
  return socketPath(storeFile, '');
}

/** Listens for commands until closed, and then waits for running ones. Only the gateway's user may connect. */
export async function openControl(
  path: string,
  run: (line: CommandLine) => Promise<CommandResult>,
  maxLine: number = MAX_LINE,
): Promise<{ close(): Promise<void> }> {
  /** Connections that have not sent a command yet. */
  const silent = new Set<Socket>();
  const server = createServer((socket) => {
    silent.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => silent.delete(socket));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!chunk.endsWith('\n') && text.length <= maxLine) return;
      const line = silent.delete(socket) && text.length <= maxLine ? readLine(text) : undefined;
      if (line === undefined) socket.destroy();
      else run(line).then((result) => socket.end(`${JSON.stringify(result)}\n`));
    });
  });
  await listenPrivately(server, path);
  server.unref();
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of silent) socket.destroy();
      }),
  };
}

/** Parses a line; undefined if it is not a valid command. */
function readLine(text: string): CommandLine | undefined {
  try {
    const { argv, stdin, cwd, configFile, round } = JSON.parse(text) as Record<keyof CommandLine, unknown>;
    if (!Array.isArray(argv) || typeof stdin !== 'string' || typeof cwd !== 'string') return undefined;
    return {
      ...{ argv, stdin, cwd },
      ...(typeof configFile === 'string' && { configFile }),
      ...(typeof round === 'number' && { round }),
    };
  } catch {
    return undefined;
  }
}

/**
 * Runs a command in the running gateway; undefined if none runs. Rejects without sending anything if the socket may
 * belong to another user: command lines contain names, and standard input passwords.
 */
export async function askControl(path: string, line: CommandLine): Promise<CommandResult | undefined> {
  if (mayBeTrap(path)) {
    throw new Error(`the control socket ${path} belongs to another user: run this as the user the gateway runs as`);
  }
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const brokenOff = (): void => reject(new Error('the running gateway closed the control socket without an answer'));
    let text = '';
    let connected = false;
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      connected = true;
      socket.write(`${JSON.stringify(line)}\n`);
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', () => {
      if (text.endsWith('\n')) resolve(JSON.parse(text) as CommandResult);
      else brokenOff();
    });
    socket.on('error', () => {
      if (connected) brokenOff();
      else resolve(undefined);
    });
  });
}

/** If other users can write to the folder, one of them could have created a socket there. */
function mayBeTrap(path: string): boolean {
  if (process.platform === 'win32') return false;
  const socket = lstatSync(path, { throwIfNoEntry: false });
  if (socket === undefined || socket.uid === process.getuid!()) return false;
  return (statSync(dirname(path)).mode & 0o022) !== 0;
}
