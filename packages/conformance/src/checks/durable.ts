/** Levels `durable` and `cluster`: the process is killed, or another instance is asked. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, expectText, refusedWith } from '../failures.ts'
import { textFor } from '../model/rules.ts'
import type { Check, Context, Target } from '../types.ts'
import {
  callCount,
  expectEnd,
  follow,
  type Running,
  repliesIn,
  sendIn,
  settled,
  startReply,
  untilLeft,
} from './reading.ts'

const level = 'durable'
const talks = ['createConversation', 'send', 'read'] as const

/** Kills the server in the middle of a reply. */
async function killed(context: Context, key?: string): Promise<Running> {
  const running = await startReply(context, 'words 400 gap 20', { key })
  await running.words(25)
  await context.server.kill()
  await running.over
  return running
}

async function killedAndStarted(context: Context, key?: string): Promise<Running> {
  const running = await killed(context, key)
  await context.server.start()
  return running
}

/** The time in which a server that started has done what it does by itself. */
const AFTERMATH_MS = 1000

async function expectShownIsStored(context: Context, running: Running, target: Target): Promise<void> {
  const { text, items } = running.received
  const last = items.at(-1)?.id
  const compare = (stored: string, when: string) => {
    const wanted = `${text.length} characters were shown up to position ${last}`
    expect(stored.length >= text.length, `${wanted}; ${when} ${stored.length} are stored.`)
    expectText(stored.slice(0, text.length), text, `${wanted}; the text stored ${when}`)
  }
  const stored = async () => repliesIn(await context.adapter.read(running.conversation, target))[0]?.text ?? ''
  compare(await stored(), 'at once after the kill')
  await pause(AFTERMATH_MS)
  compare(await stored(), 'a second later')
}

export const durableChecks = [
  {
    id: 'durable.shown-is-stored',
    level,
    needs: talks,
    rule: 'After a kill everything that was shown is stored, and nothing contradicts it.',
    reason: 'What a user has read, and acted on, was said.',
    async run(context) {
      const running = await killedAndStarted(context)
      await expectShownIsStored(context, running, context.target)
    },
  },
  {
    id: 'durable.settles',
    level,
    needs: talks,
    rule: 'After a kill no reply runs for ever.',
    reason: 'A spinner that never ends is the commonest complaint about chat.',
    async run(context) {
      const running = await killedAndStarted(context)
      const [reply] = repliesIn(await settled(context, running.conversation))
      const wanted = context.adapter.continues ? ['complete'] : ['error', 'cancelled']
      const isTrue = reply !== undefined && wanted.includes(reply.status)
      expect(isTrue, `The interrupted reply is ${reply?.status}: expected ${wanted.join(' or ')}.`)
    },
  },
  {
    id: 'durable.no-second-call',
    level,
    needs: talks,
    rule: 'A kill does not make the server call the model again by itself.',
    reason: 'A process that crashes again and again would pay for each reply each time.',
    async run(context) {
      const running = await killedAndStarted(context)
      await pause(AFTERMATH_MS)
      const calls = context.model.callsFor(running.asked)
      const isOne = calls.length === 1 || context.adapter.continues
      expect(isOne, `Expected one model call, got ${callCount(calls)}.`)
    },
  },
  {
    id: 'durable.takes-messages',
    level,
    needs: talks,
    rule: 'After a kill the conversation takes the next message.',
    reason: 'A crash must not end a conversation.',
    async run(context) {
      const running = await killedAndStarted(context)
      await settled(context, running.conversation)
      const next = sendIn(context, running.conversation, context.ask('words 8'))
      await next.words(1)
      expectText((await next.over).text, textFor(next.asked), 'The next reply’s text')
    },
  },
  {
    id: 'durable.retry-after-kill',
    level,
    needs: talks,
    rule: 'A message sent again after a kill, with its key, is still one message with one reply.',
    reason: 'The client whose connection broke is the one that sends again.',
    async run(context) {
      const key = crypto.randomUUID()
      const running = await killedAndStarted(context, key)
      const { adapter, target } = context
      // It may be answered with the failed reply, as a stream, as an error, or be silent.
      const again = sendIn(context, running.conversation, running.asked, { key })
      await Promise.race([again.over, pause(AFTERMATH_MS)]).catch((error: unknown) => {
        if (refusedWith(error) === null) throw error
      })
      again.leave()
      const messages = await adapter.read(running.conversation, target)
      const counts = [messages.length - repliesIn(messages).length, repliesIn(messages).length]
      expect(counts.join() === '1,1', `Expected one message and one reply, got ${counts.join(' and ')}.`)
      const calls = context.model.callsFor(running.asked)
      expect(calls.length === 1 || adapter.continues, `Expected one model call, got ${callCount(calls)}.`)
    },
  },
] as const satisfies readonly Check[]

export const clusterChecks = [
  {
    id: 'cluster.follow-elsewhere',
    level: 'cluster',
    needs: ['createConversation', 'send', 'follow'],
    rule: 'A reader may come back on another instance.',
    reason: 'A load balancer sends each connection where it likes.',
    async run(context) {
      const running = await startReply(context, 'words 60 gap 20')
      await running.words(10)
      const positions = running.received.items.filter(({ text }) => text !== undefined)
      // The words may have come in one piece.
      const before = positions.slice(0, Math.ceil(positions.length / 2))
      const middle = before.at(-1)
      const rest = await follow(context, running, middle?.id ?? null, context.other)
      const { text } = await running.over
      expectText(text, textFor(running.asked), 'The streamed text')
      const read = before.map((item) => item.text ?? '').join('')
      expectText(rest.text, text.slice(read.length), `Behind position ${middle?.id}, on the other instance`)
      expectEnd(rest, ['complete'], 'The stream of the other instance')
    },
  },
  {
    id: 'cluster.cancel-elsewhere',
    level: 'cluster',
    needs: ['createConversation', 'send', 'cancel'],
    rule: 'A cancel on another instance ends the reply.',
    reason: 'The stop button’s request reaches any instance.',
    async run(context) {
      const { adapter, other } = context
      const running = await startReply(context, 'words 2000 gap 20')
      await running.words(5)
      await adapter.cancel(running.conversation, running.received.reply, other)
      const { items } = await running.over
      expect(items.length < 2000, 'The stream went on to the reply’s end.')
      await untilLeft(context, running.asked)
    },
  },
  {
    id: 'cluster.kill-owner',
    level: 'cluster',
    needs: [...talks],
    rule: 'When the instance that runs a reply is killed, the others show what was shown, and settle it.',
    reason: 'Instances die; their users are somewhere else within seconds.',
    async run(context) {
      const running = await killed(context)
      try {
        await expectShownIsStored(context, running, context.other)
        await settled(context, running.conversation, 1, context.other)
      } finally {
        await context.server.start()
      }
    },
  },
] as const satisfies readonly Check[]
