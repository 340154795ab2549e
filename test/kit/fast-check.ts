/**
 * fast-check as all tests use it: the cases it makes up are the same in every run, so that what passes once passes elsewhere, and a run tries a share
 * of them (`whole.ts`). `TURNPIKE_LAW_SEED=7` makes up others; `npm run test:long -- --whole` with some other seed is how to look for new ones.
 */
import * as fc from './fast-check-share.ts';

fc.configureGlobal({ seed: Number(process.env.TURNPIKE_LAW_SEED ?? 20_261_120) });

export default fc;
