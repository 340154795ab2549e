/** Formats for the schemas of gateway.yaml. */
import { isAddressRange, isOrigin, isPattern, isUrl } from './values.ts';

export const formats = { 'address-range': isAddressRange, origin: isOrigin, regex: isPattern, uri: isUrl };
