/** The thread that searches large texts for what the rules match. */
import { parentPort } from 'node:worker_threads';
import { serveSearch } from '../../core/sdk.ts';
import { createRule, type RuleEntry } from './section.ts';

serveSearch(parentPort!, (rules: readonly RuleEntry[]) => rules.map(createRule));
