/** A vendor and a tool whose words are known beforehand: what a reply says is checked to the letter. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { startUpstream, type UpstreamCall } from '../../support/network/upstream.ts'

/** Turns with a call, before the last one without. */
const TURNS = 4
const WORDS = 22
/** At the end of a turn a reader waits for both: with nothing lost its longest silence is a second. */
const WORD_MS = 500
const TOOL_MS = 500
/** Words (16 characters at least) that the model repeats when it is told to go on, at every second call. */
const REPEATED = 4

const wordsOf = (name: string, turn: number): string[] =>
  Array.from({ length: WORDS }, (_, n) => `${name}.${turn}.${n} é🙂 `)

/** All that the reply to this message says. */
export const expectedText = (name: string): string =>
  Array.from({ length: TURNS + 1 }, (_, turn) => wordsOf(name, turn).join('')).join('')

interface Message {
  role: string
  content: string | null
}

export async function startChurnModel() {
  const faults: string[] = []
  const up = await startUpstream()
  up.always((call) => answer(call, faults))
  const shop = await startShop()
  return {
    url: up.url,
    toolUrl: shop.url,
    /** How often each call was made. */
    made: shop.made,
    /** What the model should not have been asked. */
    faults,
    calls: up.calls,
    async [Symbol.asyncDispose]() {
      await shop.close()
      await up.close()
    },
  }
}

/** One turn, or the rest of one. */
async function answer(call: UpstreamCall, faults: string[]): Promise<void> {
  const messages: Message[] = call.body.messages.filter(({ role }: Message) => role !== 'system')
  const name = messages[0]?.content ?? ''
  const turn = messages.filter(({ role }) => role === 'tool').length
  const said = messages.at(-1)?.role === 'user' && messages.length > 1 ? (messages.at(-2)?.content ?? '') : ''
  const words = wordsOf(name, turn)
  const whole = words.join('')
  const rest = restBehind(words, said)
  if (rest === null) faults.push(`${name}, turn ${turn}: ${JSON.stringify(said)} is not the beginning of ${whole}`)
  const before = words.slice(0, WORDS - (rest?.length ?? 0))
  const again = before.length >= REPEATED && call.number % 2 === 0 ? before.slice(-REPEATED) : []
  // A repetition comes at once with what follows it: the wait for it is no silence of ours.
  if (again.length > 0) await call.text(again.join(''))
  for (const word of rest ?? []) {
    if (call.abandoned) return
    await call.text(word)
    await pause(WORD_MS)
  }
  if (turn === TURNS) return await call.finish('stop')
  await call.toolCall({ id: `${name}-${turn}`, name: 'buy', arguments: JSON.stringify({ what: `${name}-${turn}` }) })
  await call.finish('tool_calls')
}

/** Words are stored whole. Null where the text is not what was said. */
function restBehind(words: readonly string[], said: string): string[] | null {
  for (let n = 0; n <= words.length; n++) if (words.slice(0, n).join('') === said) return words.slice(n)
  return null
}

async function startShop() {
  const made = new Map<string, number>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { what } = JSON.parse(body)
    made.set(what, (made.get(what) ?? 0) + 1)
    await pause(TOOL_MS)
    response.end('sold')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    made,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
