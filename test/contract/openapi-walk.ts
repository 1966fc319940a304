/** Requests whose answers are held against openapi.json (specification 9.2). */
import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { type Answer, nobody, type Scene } from '../http/scene.ts'

type Content = Record<string, { schema?: object }>
interface Described {
  responses: Record<string, { content?: Content }>
}
export const document: { paths: Record<string, Record<string, Described>>; components: object } = JSON.parse(
  await readFile(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
)

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'contract', components: document.components })

/** `method path status` of what was answered as declared. */
export const walked = new Set<string>()

/** Fails unless the status is declared and the body is as declared for it. */
function conforms(method: string, template: string, { status, headers, text, json }: Answer): void {
  const path = template.split('?', 1)[0] ?? template
  const name = `${method} ${path}`
  const declared = document.paths[path]?.[method]?.responses[String(status)]
  expect([name, status, text.slice(0, 300), declared !== undefined]).toEqual([name, status, text.slice(0, 300), true])
  walked.add(`${name} ${status}`)
  if (declared?.content === undefined) {
    expect([name, text]).toEqual([name, ''])
    return
  }
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const types = Object.keys(declared.content)
  if (!types.includes('*/*')) expect([name, status, types]).toEqual([name, status, expect.arrayContaining([type])])
  if (type !== 'application/json') return
  const schema = declared.content[type]?.schema ?? {}
  // References point into the document: it is known to the validator as `contract`.
  const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"contract#/components')))
  expect([name, status, check(json) ? null : [check.errors, json]]).toEqual([name, status, null])
}

/** Walks one endpoint and gives its answer's JSON. The template may end with a query. */
export async function walk(
  by: Pick<Scene, 'call'>,
  method: string,
  template: string,
  ids: Record<string, string>,
  body?: unknown,
  headers = {},
) {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? nobody)
  const answer = await by.call(method.toUpperCase(), path, body, headers)
  conforms(method, template.replace(/\?.*$/, ''), answer)
  return answer.json
}
