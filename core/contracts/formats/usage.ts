/** What a call used: tokens and images, and what its vendor ran. */
import type { ServedAs, Uses } from './uses.ts';

/** A kind of images; the price depends on it. */
export interface Images {
  readonly count: number;
  /** `1024x1024`; empty if the vendor chooses. */
  readonly size: string;
  /** `standard`, `hd`, `low`, `high`; empty if the vendor chooses. */
  readonly quality: string;
}

/**
 * Usage in tokens. `input` includes `cacheRead`, `cacheWrite`, `inputAudio` and `inputImage`; `output` includes
 * `reasoning`, `outputAudio` and `outputImage`. If a vendor counts caches separately, its style adds them. Units other
 * than tokens are counted separately; the price defines which are charged.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  /** Written to a cache with a lifetime of five minutes (or of the vendor's only cache). */
  readonly cacheWrite: number;
  /** Written to a cache with a lifetime of an hour. */
  readonly cacheWriteLong: number;
  readonly inputAudio: number;
  readonly output: number;
  readonly reasoning: number;
  readonly outputAudio: number;
  readonly inputImage?: number;
  readonly outputImage?: number;
  /** Characters spoken. */
  readonly characters?: number;
  /** Seconds of audio input; fractions as the vendor reports them. */
  readonly seconds?: number;
  /** Images generated. */
  readonly images?: Images;
  /** Tools that the vendor ran, as reported; missing or 0: not run. */
  readonly uses?: Uses | undefined;
  /** The service tier, as reported. */
  readonly service?: ServedAs | undefined;
  /** True if the vendor reported no usage and the gateway counted. */
  readonly estimated: boolean;
  /** True if the vendor bills nothing of it, such as a refusal before any output: the client is told the counts, and the call has used nothing. */
  readonly unbilled?: boolean;
}
