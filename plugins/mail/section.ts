/** The section `mail` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';

/** What it says. */
export interface MailSection {
  /** Empty: letters go to the log. */
  readonly smtp: string;
  readonly from: string;
}

export const mailSection = schema<MailSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    smtp: {
      description:
        'The server that takes letters: `smtps://name:password@mail.example.com`, or `smtp://…:587`. Empty: they go to the log.',
      type: 'string',
      pattern: '^$|^smtps?://[^\\s]+$',
      default: '',
    },
    from: {
      description: 'Whom letters are from: `Turnpike <no-reply@example.com>`.',
      type: 'string',
      maxLength: 200,
      default: '',
    },
  },
  default: {},
});
