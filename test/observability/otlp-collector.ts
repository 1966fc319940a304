/** A collector for tests: real OTLP over HTTP, with the JSON bodies that the exporter sends. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}

interface Attribute {
  key: string
  value: Value
}

export interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Attribute[]
  events?: { name: string }[]
  status?: { code?: number }
}

const plain = (value: Value): unknown =>
  value.arrayValue ? value.arrayValue.values.map(plain) : Object.values(value)[0]

const toObject = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

export const attributesOf = (span: SentSpan | undefined) => toObject(span?.attributes ?? [])

export type Collector = Awaited<ReturnType<typeof startCollector>>

/** At `port`, any when absent. */
export async function startCollector(port = 0) {
  const spans: SentSpan[] = []
  const bodies: string[] = []
  const resources: Record<string, unknown>[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    if (request.url !== '/base/v1/traces' || request.headers['content-type'] !== 'application/json') {
      response.writeHead(404).end()
      return
    }
    bodies.push(body)
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      resources.push(toObject(resource.attributes))
      for (const one of scopeSpans) spans.push(...one.spans)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return {
    spans,
    bodies,
    resources,
    port: bound,
    url: `http://127.0.0.1:${bound}/base/`,
    /** Resolves when nothing listens at the port any more. */
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
