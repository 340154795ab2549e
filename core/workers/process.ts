/** The entry of a worker process. */
import { runWorker } from './worker.ts';

runWorker();
