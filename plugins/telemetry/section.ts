/** The section `telemetry` of gateway.yaml. */
import { type Accepted, typed } from '../../core/plugin.ts';
import { duration, settings } from '../../core/sdk.ts';

/** How the section must look. */
export const telemetrySection = typed(
  settings('Traces and metrics for an OpenTelemetry collector, by OTLP over HTTP.', {
    endpoint: {
      type: 'string',
      pattern: '^$|^https?://[^\\s]+$',
      default: '',
      description:
        'The base URL of the collector, to which `/v1/traces` and `/v1/metrics` are added; empty: nothing is sent.',
      examples: ['http://127.0.0.1:4318'],
    },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: 'Headers of every request to the collector, such as `authorization`.',
    },
    service: { type: 'string', minLength: 1, default: 'turnpike', description: 'The `service.name` of this gateway.' },
    traces: { type: 'boolean', default: true, description: 'Send a span for each call and for each upstream attempt.' },
    metrics: { type: 'boolean', default: true, description: 'Send metrics of tokens and durations.' },
    interval: { ...duration, default: '60s', description: 'How often metrics are sent.' },
    sample: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description:
        'The share of calls that are traced, from 0 to 1; a trace that a client has begun is continued if the client samples it.',
    },
    context: settings('W3C trace context: the headers `traceparent` and `tracestate`.', {
      accept: { type: 'boolean', default: true, description: 'Continue the traces of clients.' },
      forward: { type: 'boolean', default: false, description: 'Send the trace context to vendors.' },
    }),
    content: {
      type: 'boolean',
      default: false,
      description: 'Send prompts and answers as attributes of spans. They are stored by the collector, not encrypted.',
    },
  }),
);

export type TelemetrySection = Accepted<typeof telemetrySection>;
