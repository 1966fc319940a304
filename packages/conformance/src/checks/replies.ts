/** Level `resume`: statuses, retries, busy conversations, cancelling. */
import { expect, expectText } from '../failures.ts'
import { textFor } from '../model/rules.ts'
import type { Check, Context } from '../types.ts'
import { callCount, isRefused, receive, repliesIn, sendIn, settled, startReply, untilLeft } from './reading.ts'

const level = 'resume'
const talks = ['createConversation', 'send', 'read'] as const

async function cancelled(context: Context) {
  const running = await startReply(context, 'words 2000 gap 20')
  await running.words(5)
  await context.adapter.cancel(running.conversation, running.received.reply, context.target)
  return running
}

export const replyChecks = [
  {
    id: 'status.one-of-each',
    level,
    needs: [...talks, 'cancel'],
    rule: 'Each reply has one status at the end: complete, cancelled or error.',
    reason: 'A list of conversations is as true as its statuses.',
    async run(context) {
      const whole = await startReply(context, 'words 5')
      const failed = await startReply(context, 'fail after 3')
      const stopped = await cancelled(context)
      await Promise.all([whole.over, failed.over, stopped.over])
      const wanted = ['complete', 'error', 'cancelled'] as const
      for (const [at, { conversation }] of [whole, failed, stopped].entries()) {
        const replies = repliesIn(await settled(context, conversation))
        const statuses = replies.map(({ status }) => status).join(', ')
        expect(statuses === wanted[at], `Expected one reply with the status ${wanted[at]}, got ${statuses}.`)
      }
    },
  },
  {
    id: 'status.cancelled',
    level,
    needs: [...talks, 'cancel'],
    rule: 'A cancelled reply is stored as cancelled, with the text that was shown.',
    reason: 'Stop means enough, not throw it away.',
    async run(context) {
      const { over, conversation, asked } = await cancelled(context)
      const { text } = await over
      const [reply] = repliesIn(await settled(context, conversation))
      expect(reply?.status === 'cancelled', `The stored reply is ${reply?.status}: expected cancelled.`)
      const isKept = reply.text.startsWith(text) && textFor(asked).startsWith(reply.text)
      expect(isKept, `${text.length} characters were shown, and ${reply.text.length} other ones are stored.`)
    },
  },
  {
    id: 'retry.joins',
    level,
    needs: talks,
    rule: 'The same message with the same key is one message: one model call, one reply.',
    reason: 'Every proxy and every client library repeats requests. Each repeat is a bill.',
    async run(context) {
      const key = crypto.randomUUID()
      const running = await startReply(context, 'words 30 gap 15', { key })
      await running.words(3)
      const again = sendIn(context, running.conversation, running.asked, { key })
      await Promise.all([running.over, again.words(1), again.over])
      const late = sendIn(context, running.conversation, running.asked, { key })
      await late.words(1)
      const messages = await settled(context, running.conversation)
      const calls = context.model.callsFor(running.asked)
      expect(calls.length === 1, `Expected one model call for three requests with one key, got ${callCount(calls)}.`)
      const replies = repliesIn(messages).length
      expect(replies === 1, `Expected one stored reply for three requests with one key, got ${replies}.`)
      for (const { text } of [await again.over, await late.over])
        expectText(text, textFor(running.asked), 'The text of the repeated request')
    },
  },
  {
    id: 'retry.other-body',
    level,
    needs: talks,
    rule: 'Another message with a used key is refused, and not answered with the first one’s reply.',
    reason: 'An answer to another question is worse than an error.',
    async run(context) {
      const { adapter, target } = context
      const key = crypto.randomUUID()
      const running = await startReply(context, 'words 5', { key })
      await running.over
      const other = context.ask('words 6')
      const wasRefused = await isRefused(receive(adapter.send(running.conversation, other, { key }, target)))
      expect(wasRefused, 'Another message with a used key was taken: expected a refusal.')
      const calls = context.model.callsFor(other)
      expect(calls.length === 0, `The refused message made ${callCount(calls)}.`)
    },
  },
  {
    id: 'busy.nothing-lost',
    level,
    needs: talks,
    rule: 'A message to a conversation whose reply runs is refused, or stored and answered.',
    reason: 'People write before the answer is over.',
    async run(context) {
      const { adapter, target } = context
      const running = await startReply(context, 'words 30 gap 20')
      await running.words(3)
      const second = context.ask('words 6')
      const wasRefused = await isRefused(receive(adapter.send(running.conversation, second, {}, target)))
      await running.over
      const messages = await settled(context, running.conversation, wasRefused ? 1 : 2)
      const isStored = messages.some(({ role, text }) => role === 'user' && text.includes(second))
      expect(
        isStored !== wasRefused,
        `The second message was ${wasRefused ? 'refused, and is' : 'taken, and is not'} stored.`,
      )
      const [first, answer] = repliesIn(messages)
      expect(first?.text.startsWith(running.received.text) === true, 'The first reply lost text that was shown.')
      if (wasRefused)
        expectText(first.text, textFor(running.asked), 'The first reply, after the second message was refused')
      else expectText(answer?.text ?? '', textFor(second), 'The second message’s reply')
    },
  },
  {
    id: 'cancel.other-connection',
    level,
    needs: ['createConversation', 'send', 'cancel'],
    rule: 'A cancel from another connection ends the stream and the model’s call.',
    reason: 'A stopped reply that the model goes on writing is paid for.',
    async run(context) {
      const { over, asked } = await cancelled(context)
      await over
      await untilLeft(context, asked)
    },
  },
] as const satisfies readonly Check[]
