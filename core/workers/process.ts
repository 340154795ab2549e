/** The entry of a worker process. */
import '../runtime/json-parse.ts';
import { runWorker } from './worker.ts';

runWorker();
