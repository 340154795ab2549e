/** The vendor `my-plugin` does what every vendor must do. */
import { vendorContract } from 'turnpike/kit';
import plugin from './index.ts';

vendorContract(plugin, { name: 'my-plugin' });
