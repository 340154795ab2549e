/** Makes spans and metrics of calls. Loaded only if gateway.yaml has the section `telemetry`. */
import {
  type Context,
  type Histogram,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { Attempt, Exchange, Headers, Host } from '../../core/plugin.ts';
import type { AnswerCollector } from '../../core/translation/index.ts';
import { attemptAttributes, callAttributes, commonOf, operationOf } from './attributes.ts';
import { outputOf } from './content.ts';
import { createMetering, createTracing, logFailures } from './exporters.ts';
import type { TelemetrySection } from './section.ts';

/** The buckets that the conventions recommend (docs/gen-ai/gen-ai-metrics.md). */
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const DURATION_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The number of models with their own series: clients choose the names that match patterns. */
const MOST_MODELS = 500;
/** How long the collector has for the last spans and metrics when the gateway stops. */
const LAST_MS = 3_000;

const propagator = new W3CTraceContextPropagator();
const ofHeaders = {
  get: (headers: Headers, name: string) => headers[name],
  keys: (headers: Headers) => Object.keys(headers),
};

/** The spans of a call that have begun, and its content. */
export interface Traced {
  span?: Span;
  context?: Context;
  readonly attempts: Map<Attempt, Span>;
  prompt?: string | undefined;
  answer?: AnswerCollector;
}

/** A call that has ended. */
export interface Ended {
  readonly x: Exchange;
  readonly endedMs: number;
  readonly traced: Traced | undefined;
  /** In currency units; undefined: unknown. */
  readonly cost: number | undefined;
}

/** Creates it. */
export function createRecorder(section: TelemetrySection, host: Pick<Host, 'agent' | 'boot' | 'clock' | 'log'>) {
  const resource = resourceFromAttributes({ 'service.name': section.service, 'service.instance.id': host.boot });
  logFailures(host);
  const tracing = section.traces ? createTracing(section, host, resource) : undefined;
  const metering = section.metrics ? createMetering(section, host, resource) : undefined;
  const tracer = tracing?.getTracer('turnpike');
  const meter = metering?.getMeter('turnpike');
  const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter?.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
  const tokens = histogram(
    'gen_ai.client.token.usage',
    '{token}',
    'Number of input and output tokens used.',
    TOKEN_BUCKETS,
  );
  const durations = histogram('gen_ai.client.operation.duration', 's', 'GenAI operation duration.', DURATION_BUCKETS);
  const firstTokens = histogram(
    'gen_ai.server.time_to_first_token',
    's',
    'Time to generate the first token of streamed answers.',
    FIRST_TOKEN_BUCKETS,
  );
  const models = new Set<string>();
  let hasFailed = false;

  /** The model's name, or a common one for models beyond the maximum. */
  function modelOf(x: Exchange): string {
    const model = requestedModel(x);
    if (!models.has(model)) {
      if (models.size >= MOST_MODELS) return 'other';
      models.add(model);
    }
    return model;
  }

  function begin(x: Exchange, traced: Traced): Span | undefined {
    if (tracer === undefined) return undefined;
    if (traced.span === undefined) {
      const parent = section.context.accept ? propagator.extract(ROOT_CONTEXT, x.headers, ofHeaders) : ROOT_CONTEXT;
      const name = `${operationOf(x)} ${requestedModel(x)}`.trim();
      traced.span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: x.startedMs }, parent);
      traced.context = trace.setSpan(parent, traced.span);
    }
    return traced.span;
  }

  function beginAttempt(x: Exchange, attempt: Attempt, traced: Traced): Span | undefined {
    begin(x, traced);
    let span = traced.attempts.get(attempt);
    if (span === undefined && tracer !== undefined) {
      const name = `attempt ${attempt.offer.channel.name}`;
      span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: attempt.startedMs }, traced.context);
      traced.attempts.set(attempt, span);
    }
    return span;
  }

  function endAttempt(x: Exchange, attempt: Attempt, traced: Traced, endedMs: number): void {
    const span = beginAttempt(x, attempt, traced);
    if (span === undefined) return;
    const { startedMs, firstByteMs, failure, reason } = attempt;
    span.setAttributes(attemptAttributes(attempt));
    if (firstByteMs !== undefined && x.call.stream) span.addEvent('gen_ai.first_token', startedMs + firstByteMs);
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: reason ?? failure });
    span.end(Math.max(attempt.endedMs ?? endedMs, startedMs));
  }

  function endSpans({ x, endedMs, traced = { attempts: new Map() }, cost }: Ended): void {
    const span = begin(x, traced);
    if (span === undefined) return;
    for (const attempt of x.attempts) endAttempt(x, attempt, traced, endedMs);
    if (span.isRecording()) {
      span.setAttributes(callAttributes(x, requestedModel(x), cost));
      if (x.outcome !== 'served') span.setStatus({ code: SpanStatusCode.ERROR });
      if (traced.prompt !== undefined) span.setAttribute('gen_ai.input.messages', traced.prompt);
      if (traced.answer !== undefined) setAnswer(span, traced.answer);
    }
    span.end(Math.max(endedMs, x.startedMs));
  }

  function measure({ x, endedMs }: Ended): void {
    if (durations === undefined) return;
    const common = commonOf(x, modelOf(x));
    const { usage } = x;
    durations.record(Math.max(0, endedMs - x.startedMs) / 1_000, common);
    if (usage !== undefined) {
      record(tokens, usage.input, { ...common, 'gen_ai.token.type': 'input' });
      record(tokens, usage.output, { ...common, 'gen_ai.token.type': 'output' });
    }
    const last = x.attempts.at(-1);
    if (last?.firstByteMs !== undefined && x.outcome === 'served' && x.call.stream)
      record(firstTokens, Math.max(0, last.startedMs + last.firstByteMs - x.startedMs) / 1_000, common);
  }

  return {
    /** The trace context of an attempt, for its vendor. */
    contextOf(x: Exchange, attempt: Attempt, traced: Traced): Headers {
      const span = beginAttempt(x, attempt, traced);
      const headers: Record<string, string> = {};
      if (span !== undefined)
        propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, {
          set: (carrier, name, value) => {
            carrier[name] = value;
          },
        });
      return headers;
    },
    /** Records a call. Never throws. */
    end(ended: Ended): void {
      try {
        endSpans(ended);
        measure(ended);
      } catch (error) {
        if (!hasFailed) host.log.error('a call could not be traced', { exchange: ended.x.id, error });
        hasFailed = true;
      }
    },
    /** Sends what waits, as far as the collector takes it now. */
    async stop(): Promise<void> {
      const late = new Promise<void>((done) => void host.clock.after(LAST_MS, done));
      const flushed = Promise.allSettled([tracing?.shutdown(), metering?.shutdown()]);
      await Promise.race([flushed, late]);
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

function record(histogram: Histogram | undefined, value: number, attributes: Parameters<Histogram['record']>[1]): void {
  histogram?.record(value, attributes);
}

function setAnswer(span: Span, answer: AnswerCollector): void {
  const output = outputOf(answer);
  const { id, model } = answer.facts;
  if (output !== undefined) span.setAttribute('gen_ai.output.messages', output);
  if (id !== '') span.setAttribute('gen_ai.response.id', id);
  if (model !== '') span.setAttribute('gen_ai.response.model', model);
}

/** The requested model; empty if the request was refused before its body was read. */
function requestedModel(x: Exchange): string {
  try {
    return x.call.model;
  } catch {
    return '';
  }
}
