/** The entry of a worker process. */
import '../bytes/json-parse.ts';
import { runWorker } from './worker.ts';

runWorker();
