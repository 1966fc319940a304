/** Reads YAML bodies, beside the server: a document of 1 MiB may take seconds, in which no stream would move. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inTurns } from '../../../async/in-turns.ts'
import { answerOf, startThread } from '../../../async/isolated-worker.ts'
import { decodeUtf8 } from '../../../http/server/body.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import { readBody } from '../../../http/server/request-body/incoming-body.ts'
import { parseNoted } from '../../../untrusted/exact-json.ts'
import type { YamlAnswer } from './yaml-worker.ts'

/** RFC 9512, and the names that were in use before it. */
const mediaTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** Takes YAML beside JSON in this scope. */
export function registerYaml(scope: FastifyInstance): void {
  scope.addContentTypeParser(mediaTypes, async (request: FastifyRequest) => {
    const body = await readBody(request)
    return body.length === 0 ? undefined : parseYaml(decodeUtf8(body))
  })
}

/** An honest MiB takes half a second, the thread's start included. */
const DEADLINE_MS = 10_000
/** Never met, as V8 might end the whole process then: the costliest document that is taken (99,000 `{}`) needs 290 MB. */
const MAX_MEGABYTES = 512
/**
 * The most texts that wait. One is parsed at a time, as each may keep a processor busy; more than these are sent away.
 */
const MOST_WAITING = 4

const turn = inTurns()
let waiting = 0

/** Returns the document's value, which JSON could hold too. Rejects with `HttpError`: 400, or 503 while others wait. */
export async function parseYaml(text: string, deadlineMs = DEADLINE_MS): Promise<unknown> {
  if (waiting >= MOST_WAITING) {
    throw new HttpError(503, 'Other documents are being read at the moment.', { 'retry-after': '10' })
  }
  waiting++
  try {
    const answer = await turn('yaml', () => ask(text, deadlineMs))
    if ('fault' in answer) throw new HttpError(400, answer.fault)
    return parseNoted(answer.json)
  } finally {
    waiting--
  }
}

const tooLong = () => new HttpError(400, 'body: takes too long to read')

async function ask(text: string, deadlineMs: number): Promise<YamlAnswer> {
  const worker = startThread(new URL('./yaml-worker.ts', import.meta.url), MAX_MEGABYTES, text)
  const { promise, resolve, reject } = Promise.withResolvers<YamlAnswer>()
  worker.on('message', resolve)
  worker.on('error', (error) =>
    reject('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLong() : error),
  )
  worker.on('exit', () => reject(new Error('The YAML thread ended without an answer.')))
  return await answerOf(worker, promise, { deadlineMs, late: tooLong })
}
