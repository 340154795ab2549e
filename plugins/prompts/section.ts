/** The section `prompts` of gateway.yaml. */
import { type Accepted, typed } from '../../core/plugin.ts';
import { duration, scopeProperties, size } from '../../core/sdk.ts';

/** How the section must look. */
export const promptsSection = typed({
  type: 'object',
  description: 'Prompts and answers of calls that are stored, encrypted, for a configured time.',
  additionalProperties: false,
  default: { keep: '0d', maxBytes: '64kb', readers: [], own: false },
  properties: {
    keep: { ...duration, default: '0d', description: 'How long they are stored; `0d`: not at all.' },
    maxBytes: {
      ...size,
      default: '64kb',
      description: 'The most text that is stored of a call, at most 1mb; what is cut is marked.',
    },
    readers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description:
        'Administrators who may read them, by id or by name; `*` stands for any characters. An administrator who changes their own name neither becomes a reader nor stops being one. Root may always read them.',
    },
    own: { type: 'boolean', default: false, description: 'Users may read the prompts and answers of their own calls.' },
    ...scopeProperties,
  },
});

export type PromptsSection = Accepted<typeof promptsSection>;
