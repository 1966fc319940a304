/** The words about a path that the deploy API does not have, or not with this method (contract section 25). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../server/http-error.ts'

export const deployRoots = ['/api/v1/agents/:agent_id/deploy', '/api/v1/openai'] as const

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for methods of a path that it does not have, where another path would take them. */
    refused?: boolean
  }
}

interface KnownPath {
  url: string
  steps: readonly string[]
  methods: Set<string>
}

/** The services that clients of the chat-completions format ask for besides, by the first step of its path. */
const notServed = [
  'embeddings',
  'images',
  'audio',
  'moderations',
  'fine_tuning',
  'batches',
  'assistants',
  'vector_stores',
]

/** Longer paths are no misspellings, and comparing them costs their square. */
const MOST_CHARACTERS = 300

const stepsOf = (path: string): string[] => path.split('/').slice(1)
const isParam = (step: string): boolean => step.startsWith(':')

/**
 * Collects the scope's paths. Call it before the routes of the scope are added. The returned function throws 404 or
 * 405.
 */
export function collectPaths(scope: FastifyInstance): (request: FastifyRequest, reply: FastifyReply) => never {
  const known = new Map<string, KnownPath>()
  scope.addHook('onRoute', ({ url, method, config }) => {
    if (config?.refused || url.endsWith('*') || deployRoots.some((root) => root === url)) return // those that answer for unknown paths
    const path = known.get(url) ?? { url, steps: stepsOf(url), methods: new Set() }
    known.set(url, path)
    for (const one of [method].flat()) path.methods.add(one)
  })
  return ({ method, url }, reply) => {
    const path = url.split('?', 1)[0] ?? ''
    const shown = path.slice(0, 200)
    const [found] = [...known.values()]
      .filter(({ steps }) => matches(steps, stepsOf(path)))
      .toSorted((a, b) => a.steps.filter(isParam).length - b.steps.filter(isParam).length)
    if (found !== undefined) {
      const allowed = [...found.methods].join(', ')
      reply.header('allow', allowed)
      throw new HttpError(405, `There is no ${method} ${shown}; there is ${allowed}.`)
    }
    throw new HttpError(404, `There is no ${method} ${shown}.${hint([...known.values()], path)}`)
  }
}

const matches = (steps: readonly string[], path: readonly string[]): boolean =>
  steps.length === path.length && steps.every((step, n) => (isParam(step) ? path[n] !== '' : step === path[n]))

function hint(known: readonly KnownPath[], path: string): string {
  const steps = stepsOf(path)
  const root = deployRoots.map(stepsOf).find((one) => matches(one, steps.slice(0, one.length)))
  if (root === undefined || path.length > MOST_CHARACTERS) return ''
  const below = steps.slice(root.length)
  // A client's base URL may be a session's, and end in a version.
  const [first, second] = below[0] === 'sessions' ? below.slice(2) : below
  const asked = notServed.find((one) => one === first || (first === 'v1' && one === second))
  if (asked !== undefined) return ` Agents answer chats only, not ${asked.replace('_', ' ')}.`
  const near = nearest(
    known.filter(({ steps: own }) => own.slice(0, root.length).join() === root.join()),
    steps,
    root.length,
  )
  return near === null ? '' : ` The nearest path is ${near}.`
}

/**
 * Returns the nearest known path as the caller would write it: with the ids that stand in the request's path already.
 * Null when there is none.
 */
function nearest(known: readonly KnownPath[], path: readonly string[], from: number): string | null {
  let best: { shown: string; distance: number } | null = null
  for (const { steps } of known) {
    const filled = steps.map((step, n) => (isParam(step) ? (path[n] ?? '') || '…' : step))
    const distance = editDistance(path.slice(from), filled.slice(from), ofSteps)
    if (best === null || distance < best.distance) {
      const names = steps.map((step, n) => (isParam(step) && !path[n] ? `{${step.slice(1)}}` : filled[n]))
      best = { shown: `/${names.join('/')}`, distance }
    }
  }
  return best?.shown ?? null
}

interface Costs<Item> {
  left: number
  added: number
  changed(one: Item, other: Item): number
}

const ofLetters: Costs<string> = { left: 1, added: 1, changed: (one, other) => Number(one !== other) }

/** A step that is missing is likelier than one too many; a misspelt one costs as much of it as differs. */
const ofSteps: Costs<string> = {
  left: 0.6,
  added: 0.3,
  changed: (one, other) => editDistance([...one], [...other], ofLetters) / Math.max(one.length, other.length, 1),
}

function editDistance<Item>(from: readonly Item[], to: readonly Item[], { left, added, changed }: Costs<Item>): number {
  let last = Array.from({ length: to.length + 1 }, (_, n) => n * added)
  for (const [row, one] of from.entries()) {
    const current = [(row + 1) * left]
    for (const [column, other] of to.entries()) {
      const [above = 0, before = 0, diagonal = 0] = [last[column + 1], current[column], last[column]]
      current.push(Math.min(above + left, before + added, diagonal + changed(one, other)))
    }
    last = current
  }
  return last[to.length] ?? 0
}
