/** The vendor `fir` does what every vendor must do. */
import { vendorContract } from 'turnpike/kit';
import plugin from './fir.mjs';

vendorContract(plugin, {
  name: 'fir',
  frame({ data }) {
    const bytes = Buffer.from(data);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  },
});
