/** Pictures, files and schemas, by every client, to every kind of provider (contract section 13). */
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { pdf, png } from '../../features/parts/routes/parts-scene.ts'
import * as anthropic from '../../providers/native/anthropic-server.ts'
import * as gemini from '../../providers/native/gemini-server.ts'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/network/upstream.ts'
import { certificate } from '../../support/programs/certificate.ts'
import { verifies } from '../../verifies.ts'
import { compareRecorded, openContents } from '../matrix.ts'
import type { ContentRow } from '../rows.ts'

const picture = { bytes: png(), mediaType: 'image/png' }
const document = { bytes: pdf(), mediaType: 'application/pdf', filename: 'a.pdf' }
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const answer = '{"city":"Bern"}'
const base64 = ({ bytes }: { bytes: Buffer }) => bytes.toString('base64')

/** The three wires: a server that speaks it, and what it is sent in its own words. */
const wires = {
  'openai-compatible': {
    start: async () => {
      const up = await startUpstream()
      return Object.assign(up, { base: up.url })
    },
    tells: async (call: UpstreamCall) => {
      await call.text(answer)
      await call.finish()
    },
    text: { type: 'text', text: 'Look' },
    picture: { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(picture)}` } },
    document: {
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64(document)}` },
    },
    contents: ({ messages }: UpstreamCall['body']) => messages[0].content,
    schema: { response_format: { type: 'json_schema', json_schema: { schema } } },
  },
  anthropic: {
    start: anthropic.startAnthropic,
    tells: anthropic.tells({ text: [answer] }),
    text: { type: 'text', text: 'Look' },
    picture: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64(picture) } },
    document: {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: base64(document) },
      title: 'a.pdf',
    },
    contents: ({ messages }: UpstreamCall['body']) => messages[0].content,
    schema: { output_config: { format: { type: 'json_schema', schema } } },
  },
  gemini: {
    start: gemini.startGemini,
    tells: gemini.tells({ text: [answer] }),
    text: { text: 'Look' },
    picture: { inlineData: { mimeType: 'image/png', data: base64(picture) } },
    document: { inlineData: { mimeType: 'application/pdf', data: base64(document) } },
    contents: ({ contents }: UpstreamCall['body']) => contents[0].parts,
    schema: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
  },
}
type Wire = keyof typeof wires
const models: Record<Wire, string> = {
  'openai-compatible': 'm',
  anthropic: 'claude-opus-5-5',
  gemini: 'gemini-3-flash',
}

const folder = await temporaryFolder()
const cert = await readFile(certificate(folder), 'utf8')
const key = await readFile(join(folder, 'key.pem'))
setDefaultCACertificates([...getCACertificates('default'), cert])
const pictures = createServer({ cert, key }, (_, response) => void response.end(picture.bytes)).listen(0)
await once(pictures, 'listening')
const host = `127.0.0.1:${(pictures.address() as AddressInfo).port}`

let app: TestApp
const servers = new Map<Wire, { up: Upstream; agentId: string }>()
beforeAll(async () => {
  app = await startTestApp({ settings: { OUTBOUND_ALLOW: host } })
  for (const type of ['openai-compatible', 'anthropic', 'gemini'] as const) {
    const up = await wires[type].start()
    up.always(wires[type].tells)
    const { agentId, providerId } = await createAgent(app, { type, baseUrl: up.base })
    await app.sql`update agents set model = ${models[type]} where id = ${agentId}`
    await app.client.PUT('/api/v1/settings/providers/{id}', {
      params: { path: { id: providerId } },
      body: { apiKey: 'sk-1234567890' },
    })
    servers.set(type, { up, agentId })
  }
})
afterAll(async () => {
  pictures.closeAllConnections()
  pictures.close()
  await app?.[Symbol.asyncDispose]()
  for (const { up } of servers.values()) await up.close()
  await rm(folder, { recursive: true })
})

/** Asks an agent of that wire; what came back, and what its provider was sent. */
async function asked(
  wire: Wire,
  ask: (where: { server: string; agentId: string; baseURL: string }) => Promise<string>,
) {
  const { up, agentId } = servers.get(wire) ?? expect.unreachable(wire)
  const said = await ask({ server: app.url, agentId, baseURL: `${app.url}/api/v1/agents/${agentId}/deploy` })
  return { said, body: up.calls.at(-1)?.body }
}

const clients = await openContents()

describe.each(clients)('$name', ({ name, version, how, ...client }) => {
  const cells: Partial<Record<ContentRow, string>> = {}
  const each = async (row: ContentRow, see: (wire: Wire) => Promise<void>) => {
    for (const wire of ['openai-compatible', 'anthropic', 'gemini'] as const) await see(wire)
    cells[row] = how[row]
  }
  const parts = (row: Exclude<ContentRow, 'schema'>, given: Parameters<typeof client.url>[1] | typeof picture) =>
    each(row, async (wire) => {
      const { said, body } = await asked(wire, (ask) =>
        typeof given === 'string' ? client.url(ask, given) : client[row === 'pdf' ? 'pdf' : 'data'](ask, given),
      )
      const { text, picture: image, document: file, contents } = wires[wire]
      expect([wire, said, contents(body)]).toMatchObject([wire, answer, [text, row === 'pdf' ? file : image]])
    })

  verifies(['contract-13.parts', 'contract-13.part-addresses'], `${name}: a picture by URL`, () =>
    parts('url', `https://${host}/a.png`),
  )
  verifies('contract-13.parts', `${name}: a picture by its bytes`, () => parts('data', picture))
  verifies('contract-13.parts', `${name}: a PDF`, () => parts('pdf', document))
  verifies('contract-13.structured', `${name}: an answer by a JSON Schema`, () =>
    each('schema', async (wire) => {
      const { said, body } = await asked(wire, (ask) => client.schema(ask, schema))
      expect([wire, said, body]).toMatchObject([wire, answer, wires[wire].schema])
    }),
  )
  compareRecorded(`contents-${name.replace(/\W+/g, '-').replace(/^-/, '')}`, () => ({
    client: name,
    version,
    cells: { contents: cells },
  }))
})
