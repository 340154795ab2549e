/**
 * The first lines of every thread: its code is TypeScript, and a thread inherits neither the loader its parent
 * was started with nor one the parent registered by itself. Loading it as CommonJS starts in half the time: module hooks
 * would bring a thread of their own along.
 */
const { workerData } = require('node:worker_threads');
const { register } = require('tsx/cjs/api');

register();
require(workerData.entry);
