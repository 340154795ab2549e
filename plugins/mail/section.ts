/** The section `mail` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';

export interface MailSection {
  /** Empty: emails are written to the log. */
  readonly smtp: string;
  readonly from: string;
}

export const mailSection = schema<MailSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    smtp: {
      description:
        'The SMTP server: `smtps://name:password@mail.example.com`, or `smtp://…:587`. Empty: emails are written to the log.',
      type: 'string',
      pattern: '^$|^smtps?://[^\\s]+$',
      default: '',
    },
    from: {
      description: 'The sender: `Turnpike <no-reply@example.com>`.',
      type: 'string',
      maxLength: 200,
      default: '',
    },
  },
  default: {},
});
