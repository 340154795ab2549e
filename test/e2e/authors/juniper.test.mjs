/** The vendor `juniper` does what every vendor must do. */
import { vendorContract } from 'turnpike/kit';
import plugin from './juniper.mjs';

vendorContract(plugin, { name: 'juniper', options: (upstream) => ({ upstream }) });
