/** What the process of a worker runs. */
import { runWorker } from './worker.ts';

runWorker();
