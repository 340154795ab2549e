/** The exporters: OTLP over HTTP as JSON, with bounded queues. If the collector is away, the log says so at most once a minute. */
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Host } from '../../core/plugin.ts';
import { durationMs } from '../../core/sdk.ts';
import { parsed, textIn } from '../../core/translation/index.ts';
import type { TelemetrySection } from './section.ts';

/** The most spans that wait; further ones are dropped. */
const MOST_SPANS = 8_192;
/** Spans in one request, and how long they wait for others. */
const AT_ONCE = 512;
const SPAN_WAIT_MS = 2_000;
/** How long the collector may take to answer. */
const ANSWER_MS = 10_000;
const LOGGED_MS = 60_000;

/**
 * Logs what the SDK reports: the collector is away, spans were dropped. The SDK reports to one logger for the process, so the newest
 * configuration gets the reports of all.
 */
export function logFailures({ clock, log }: Pick<Host, 'clock' | 'log'>): void {
  let loggedMs = Number.NEGATIVE_INFINITY;
  const report = (text: string): void => {
    if (clock.mono() - loggedMs < LOGGED_MS) return;
    loggedMs = clock.mono();
    log.warn('traces or metrics were not delivered', { reason: reasonIn(text) });
  };
  const ignore = (): void => {};
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** An error is reported as JSON with its message, its stack and so on. */
function reasonIn(text: string): string {
  const message = text.startsWith('{') ? textIn(parsed(text), 'message') : undefined;
  return message ?? text;
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
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        maxQueueSize: MOST_SPANS,
        maxExportBatchSize: AT_ONCE,
        scheduledDelayMillis: SPAN_WAIT_MS,
        exportTimeoutMillis: 2 * ANSWER_MS,
      }),
    ],
  });
}

/** Creates what collects and sends metrics. */
export function createMetering(
  section: TelemetrySection,
  { agent }: Pick<Host, 'agent'>,
  resource: Resource,
): MeterProvider {
  const exporter = new OTLPMetricExporter({
    url: urlOf(section, '/v1/metrics'),
    headers: { ...section.headers },
    httpAgentOptions: () => agent(section.endpoint),
    timeoutMillis: ANSWER_MS,
  });
  const intervalMs = durationMs(section.interval);
  return new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: intervalMs,
        exportTimeoutMillis: Math.min(intervalMs, ANSWER_MS),
      }),
    ],
  });
}
