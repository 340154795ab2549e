/** The exporters: OTLP over HTTP as JSON, with bounded queues. If the collector is away, the log says so at most once a minute. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Host } from '../../core/plugin.ts';
import { durationMs } from '../../core/sdk.ts';
import type { TelemetrySection } from './section.ts';

/** The most spans in memory; further ones are dropped. */
const MOST_SPANS = 8_192;
/** Spans in one request, and how long they wait for others. */
const AT_ONCE = 512;
const SPAN_WAIT_MS = 2_000;
/** How long the collector may take to answer. */
const ANSWER_MS = 10_000;
const LOGGED_MS = 60_000;

/** Counts what could not be delivered, and reports it. */
export class Losses {
  readonly #host: Pick<Host, 'clock' | 'log'>;
  #spans = 0;
  #error: Error | undefined;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(host: Pick<Host, 'clock' | 'log'>) {
    this.#host = host;
  }

  /** Some spans, or metrics (`spans` is 0), were not delivered. */
  add(spans: number, error: Error | undefined): void {
    const { clock, log } = this.#host;
    this.#spans += spans;
    this.#error = error ?? this.#error;
    if (clock.mono() - this.#loggedMs < LOGGED_MS) return;
    this.#loggedMs = clock.mono();
    log.warn('the telemetry collector cannot be reached', { lostSpans: this.#spans, error: this.#error });
    this.#spans = 0;
  }
}

/** The base URL with a path. */
function urlOf({ endpoint }: TelemetrySection, path: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  return url.href;
}

/** Creates what makes and sends spans. */
export function createTracing(
  section: TelemetrySection,
  { agent }: Pick<Host, 'agent'>,
  resource: Resource,
  losses: Losses,
): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({
    url: urlOf(section, '/v1/traces'),
    headers: { ...section.headers },
    httpAgentOptions: () => agent(section.endpoint),
    timeoutMillis: ANSWER_MS,
    concurrencyLimit: 2,
  });
  return new BasicTracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(section.sample) }),
    spanProcessors: [new BoundedProcessor(exporter, losses)],
  });
}

/** Counts spans in the queue of a batch processor, which drops those that are too many without saying so. */
class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #losses: Losses;
  #waiting = 0;

  constructor(exporter: SpanExporter, losses: Losses) {
    this.#losses = losses;
    const counted: SpanExporter = {
      export: (spans, done) => exporter.export(spans, (result) => this.#exported(spans, result, done)),
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    };
    this.#batches = new BatchSpanProcessor(counted, {
      maxQueueSize: MOST_SPANS,
      maxExportBatchSize: AT_ONCE,
      scheduledDelayMillis: SPAN_WAIT_MS,
      exportTimeoutMillis: 2 * ANSWER_MS,
    });
  }

  #exported(spans: readonly ReadableSpan[], result: ExportResult, done: (result: ExportResult) => void): void {
    this.#waiting -= spans.length;
    if (result.code !== ExportResultCode.SUCCESS) this.#losses.add(spans.length, result.error);
    done(result);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & 1) === 0) return;
    if (this.#waiting >= MOST_SPANS) {
      this.#losses.add(1, undefined);
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }
}

/** Creates what collects and sends metrics. */
export function createMetering(
  section: TelemetrySection,
  { agent }: Pick<Host, 'agent'>,
  resource: Resource,
  losses: Losses,
): MeterProvider {
  const exporter = new OTLPMetricExporter({
    url: urlOf(section, '/v1/metrics'),
    headers: { ...section.headers },
    httpAgentOptions: () => agent(section.endpoint),
    timeoutMillis: ANSWER_MS,
  });
  const counted: PushMetricExporter = {
    export: (metrics, done) =>
      exporter.export(metrics, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) losses.add(0, result.error);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const intervalMs = durationMs(section.interval);
  return new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: counted,
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: Math.min(intervalMs, ANSWER_MS),
      }),
    ],
  });
}
