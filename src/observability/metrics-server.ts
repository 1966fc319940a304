/** The port that Prometheus scrapes: metrics of one process, or the sums of several. */
import { createServer } from 'node:http'
import { AggregatorRegistry } from 'prom-client'
import type { MetricsSnapshot } from './metrics.ts'

export interface MetricsServer {
  /** `http://host:port/metrics` */
  url: string
  close(): Promise<void>
}

export interface MetricsServerOptions {
  host: string
  port: number
  /** Collects the snapshots of all processes that answer. */
  collect(): Promise<MetricsSnapshot[]>
}

/** Rejects with one clear line when the port is not available. */
export async function serveMetrics({ host, port, collect }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer(async (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end()
      return
    }
    try {
      const registry = AggregatorRegistry.aggregate(await collect())
      response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics())
    } catch {
      response.writeHead(500).end()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`METRICS_PORT: ${port} on ${host}: ${error.message}.`)))
    server.listen({ host, port }, resolve)
  })
  server.unref() // it does not keep the process alive
  const address = server.address()
  const bound = address !== null && typeof address === 'object' ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
