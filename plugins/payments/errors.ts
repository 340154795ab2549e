/** The errors of payments and redemption codes that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    invalid_method: {
      status: 400,
      param: 'payment_method',
      text: (known: string) => `payment_method must be one of: ${known}.`,
      help: 'This payment method does not exist.',
    },
    invalid_product: {
      status: 400,
      param: 'product_id',
      help: 'This product does not exist. Choose one of the products.',
    },
    invalid_url: {
      status: 400,
      text: (param: string, origin: string) => `${param} must be a page of ${origin}.`,
      help: 'The return address is not a page of this console.',
    },
    invalid_code: { status: 400, param: 'key', help: 'The redemption code is incorrect, used, disabled or expired.' },
    code_used: {
      status: 409,
      text: (id: number) => `The redemption code ${id} was used and cannot be changed.`,
      help: 'The redemption code was used and cannot be changed.',
    },
    insufficient_balance: {
      status: 409,
      text: (plan: string, money: string) =>
        `The plan ${plan} costs ${money}, but the balance is too low or the account has a debt.`,
      help: 'The balance is too low. Top up first.',
    },
    order_completed: {
      status: 409,
      text: (state: string) => `This order is already ${state}.`,
      help: 'The order is already complete.',
    },
    order_returned: { status: 409, help: 'The order was refunded or disputed.' },
    order_cannot_be_given: {
      status: 409,
      text: (reason: string) => `It cannot be given: ${reason}`,
      help: 'The ordered item cannot be delivered; the message has the reason.',
    },
    payment_provider_failed: {
      status: 502,
      help: 'The payment provider could not be reached, or returned an error. Try again later.',
    },
  },
  'api',
);
