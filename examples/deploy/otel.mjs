// Spans of editd's requests for an OpenTelemetry collector: node --import ./otel.mjs …/editd/dist/server.js
// Needs `npm install @fastify/otel @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-http` beside it.
import FastifyOtelInstrumentation from '@fastify/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

// Where to: OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318.
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] })
provider.register()
new FastifyOtelInstrumentation({ registerOnInitialization: true }).setTracerProvider(provider)
