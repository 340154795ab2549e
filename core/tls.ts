/** Reads the certificate of `listen.tls` and its key, and checks that they match. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Listen } from './config/core-sections.ts';
import type { ConfigFile } from './config/file.ts';
import { unreadable } from './config/interpolation.ts';

/** Contents of PEM files. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads the files of `listen.tls`; undefined if it is not set. Unusable files are reported as problems of the
 * configuration.
 */
export function readTls(tls: Listen['tls'], file: ConfigFile): TlsFiles | undefined {
  if (tls === undefined) return undefined;
  const read = (which: 'cert' | 'key'): Buffer | undefined => {
    try {
      return readFileSync(resolve(file.dir, tls[which]));
    } catch (error) {
      file.problem(['listen', 'tls', which], `the file ${unreadable(error)}; paths are relative to this file`);
      return undefined;
    }
  };
  const proven = (which: 'cert' | 'key', files: Partial<TlsFiles>, wrong: string): boolean => {
    try {
      createSecureContext(files);
      return true;
    } catch {
      file.problem(['listen', 'tls', which], wrong);
      return false;
    }
  };
  const cert = read('cert');
  const key = read('key');
  if (cert === undefined || key === undefined) return undefined;
  if (!proven('cert', { cert }, 'the file does not contain a certificate in PEM format')) return undefined;
  return proven(
    'key',
    { cert, key },
    'the file does not contain a private key in PEM format that matches the certificate',
  )
    ? { cert, key }
    : undefined;
}
