/** The thread that searches large texts for personal data. */
import { parentPort } from 'node:worker_threads';
import { serveSearch } from '../../core/sdk.ts';
import { findersOf } from './finders.ts';
import type { PseudonymsSection } from './section.ts';

serveSearch(parentPort!, (section: PseudonymsSection) => findersOf(section));
