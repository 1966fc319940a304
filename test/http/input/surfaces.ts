/** Every endpoint that the contract declares, with ids of real records, and what a refusal of its surface looks like. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { nobody, type Scene } from '../scene.ts'

interface Described {
  requestBody?: { required?: boolean }
}
const document: { paths: Record<string, Record<string, Described>> } = JSON.parse(
  await readFile(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
)

/** The Responses API has OpenAI's error object in every status (contract section 24). */
const isObjectFormat = (path: string): boolean => /\/(?:deploy|openai)\/(?:responses|conversations|files)\b/.test(path)
const errorObject = {
  error: {
    message: expect.any(String),
    type: expect.any(String),
    code: expect.anything(),
    param: expect.toBeOneOf([null, expect.any(String)]),
  },
}

const keyOf = (path: string) => (/\/deploy|\/openai/.test(path) ? 'error' : 'message')

/** Status one of those wanted, and a body in the surface's format, without a word of the inside. */
export function expectRefusal(
  what: string,
  path: string,
  wanted: number[],
  { status, text: said }: { status: number; text: string },
) {
  expect([what, wanted.includes(status) ? 'as wanted' : status, said.slice(0, 200)]).toEqual([
    what,
    'as wanted',
    said.slice(0, 200),
  ])
  if (status < 400) return
  const json = JSON.parse(said)
  const isRequestError = status === 400 && keyOf(path) === 'error'
  const plain = isObjectFormat(path) ? errorObject : { [keyOf(path)]: expect.any(String) }
  expect([what, json]).toEqual([what, isRequestError ? refusedRequest() : plain])
  expect(said).not.toMatch(/at .*\.ts:\d|node_modules|select |postgres|SyntaxError|RangeError|TypeError/)
}

/** Makes the records that the ids stand for. */
export async function allEndpoints(scene: Scene) {
  scene.says(['ok'])
  const sessionId = await scene.newSession()
  await scene.send(sessionId, 'x')
  const promptId = (await scene.call('POST', '/api/v1/prompts', { name: 'p', content: 'c' })).json.id
  const idOf = (path: string, name: string): string => {
    if (name === 'session_id') return sessionId
    if (name === 'agent_id' || path.startsWith('/api/v1/agents/')) return scene.agentId
    if (path.includes('/debug/')) return sessionId
    if (path.includes('/prompts/')) return promptId
    return path.includes('/providers/') ? scene.providerId : nobody
  }

  return { sessionId, endpoints: documentedEndpoints(idOf) }
}

/** All of them, with an id for each place in their paths. */
export function documentedEndpoints(idOf: (path: string, name: string) => string) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, { requestBody }]) => ({
        method: method.toUpperCase(),
        template: path,
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => idOf(path, name)),
        takesBody: requestBody !== undefined,
      })),
  )
}
