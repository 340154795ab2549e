/** The vendor `my-plugin` passes the tests for vendors. */
import { vendorContract } from 'turnpike/kit';
import plugin from './index.ts';

vendorContract(plugin, { name: 'my-plugin' });
