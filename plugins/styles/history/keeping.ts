/** The section `responses` of gateway.yaml. Decides whether a response is stored: each account has a budget of bytes, and the disk needs free space. */
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Running } from '../../../core/contracts/running.ts';
import {
  type Accepted,
  type Exchange,
  GatewayError,
  type Host,
  type JsonBody,
  type Known,
  slot,
  typed,
} from '../../../core/plugin.ts';
import { byteSize, duration, size } from '../../../core/sdk.ts';

/** The budget of an account that a response counts towards: that of free models, or the other. */
export interface Budget {
  readonly isFree: boolean;
  readonly bytes: number;
}

/** The budgets of calls whose responses will be stored. */
const decided = slot<Budget>('styles.kept');

/** `keeps`: whether any response is stored. */
export function createKeeping(host: Host, { perAccount, perAccountFree }: ResponsesSection, keeps: boolean) {
  const paid: Budget = { isFree: false, bytes: byteSize(perAccount) };
  const free: Budget = { isFree: true, bytes: byteSize(perAccountFree) };
  /** Bytes of running calls whose responses will be stored: they are not on the disk yet. */
  let promised = 0;

  function isFree(model: string): boolean {
    try {
      return host.find(Catalog)?.require(model).free ?? false;
    } catch (error) {
      // The call is refused later, when its model is looked up.
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  return {
    /**
     * Called once per call, before it is forwarded, so that the client gets a warning if its response will not be stored. `newBytes`:
     * the size of its new input.
     */
    decide(x: Known, body: JsonBody, newBytes: number): void {
      if (body.get('store') === false) return;
      const budget = isFree(x.call.model) ? free : paid;
      const hasRoom = host.find(Running)?.hasRoom(promised + newBytes) ?? true;
      if (!keeps || newBytes > budget.bytes || !hasRoom) {
        x.drop('store');
        return;
      }
      decided.set(x, budget);
      promised += newBytes;
      x.defer(() => {
        promised -= newBytes;
      });
    },
    /** The budget of a response that will be stored; undefined if it will not be stored. */
    budgetFor: (x: Exchange): Budget | undefined => decided.get(x),
    budgets: [paid, free],
  };
}

export type Keeping = ReturnType<typeof createKeeping>;

export const responsesSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    keep: {
      anyOf: [duration, { type: 'integer', const: 0 }],
      description: 'How long a response can be continued and read. 0: none is kept.',
      default: '30d',
    },
    perAccount: {
      ...size,
      description: 'Bytes kept per account, requests and responses together; the oldest are deleted first.',
      default: '100mb',
    },
    perAccountFree: {
      ...size,
      description: 'The same for free models, in addition.',
      default: '4mb',
    },
  },
  default: {},
});

export type ResponsesSection = Accepted<typeof responsesSection>;
