/** Level `stream`: what a reader is shown of one reply. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, expectText } from '../failures.ts'
import { textFor } from '../model/rules.ts'
import type { Check } from '../types.ts'
import { expectEnd, follow, repliesIn, settled, startReply, until } from './reading.ts'

const level = 'stream'
const needs = ['createConversation', 'send'] as const

export const streamChecks = [
  {
    id: 'stream.whole',
    level,
    needs,
    rule: 'A reader gets the reply from its first character to its last.',
    reason: 'A sentence that ends too early reads like an answer.',
    async run(context) {
      const { over, asked } = await startReply(context, 'words 40 gap 2')
      expectText((await over).text, textFor(asked), 'The streamed text')
    },
  },
  {
    id: 'stream.one-end',
    level,
    needs,
    rule: 'A stream ends exactly once, and nothing follows its end.',
    reason: 'A page that waits for the end waits for ever, or ends the wrong reply.',
    async run(context) {
      const { over } = await startReply(context, 'words 5')
      const received = await over
      expectEnd(received, ['complete'], 'The stream of a reply')
      expect(received.items.at(-1)?.end !== undefined, 'Text came after the end of the stream.')
    },
  },
  {
    id: 'stream.unicode-split',
    level,
    needs,
    rule: 'Characters whose bytes arrive in two parts are whole.',
    reason: 'Each accent, Chinese character or emoji may become two question marks.',
    async run(context) {
      const { over, asked } = await startReply(context, 'words 30 unicode')
      expectText((await over).text, textFor(asked), 'The streamed text')
    },
  },
  {
    id: 'stream.large',
    level,
    needs,
    rule: 'A reply of 1 MB arrives whole.',
    reason: 'Buffers and limits on the way cut long replies.',
    async run(context) {
      const { over, asked } = await startReply(context, 'bytes 1000000')
      expectText((await over).text, textFor(asked), 'The streamed text')
    },
  },
  {
    id: 'stream.slow-reader',
    level,
    needs,
    rule: 'A reader that stands still for a second loses nothing.',
    reason: 'Phones and busy browsers stop reading all the time.',
    async run(context) {
      const { adapter, target } = context
      const conversation = await adapter.createConversation(target)
      const asked = context.ask('bytes 400000')
      let text = ''
      for await (const item of adapter.send(conversation, asked, {}, target)) {
        if (text === '' && item.text) await pause(1000)
        text += item.text ?? ''
      }
      expectText(text, textFor(asked), 'The text that a slow reader got')
    },
  },
  {
    id: 'stream.failing-model',
    level,
    needs: [...needs, 'read'],
    rule: 'When the model fails, the text so far stays and the reply is an error.',
    reason: 'Otherwise half an answer looks like a whole one, or vanishes before the reader’s eyes.',
    async run(context) {
      const { over, conversation } = await startReply(context, 'fail after 10')
      const shown = await over
      expectEnd(shown, ['error'], 'The stream of a reply whose model failed')
      const [reply] = repliesIn(await settled(context, conversation))
      expect(reply?.status === 'error', `The stored reply is ${reply?.status}: expected error.`)
      expect(
        reply.text.startsWith(shown.text),
        `${shown.text.length} characters were shown, and ${reply.text.length} other ones are stored.`,
      )
    },
  },
  {
    id: 'stream.reader-leaves',
    level,
    needs: [...needs, 'read'],
    rule: 'The reply goes on when its reader leaves.',
    reason: 'A closed laptop must not cost the answer.',
    async run(context) {
      const running = await startReply(context, 'words 40 gap 15')
      await running.words(3)
      running.leave()
      await running.over
      const [reply] = repliesIn(await settled(context, running.conversation))
      expect(reply?.status === 'complete', `The reply whose reader left is ${reply?.status}: expected complete.`)
      expectText(reply.text, textFor(running.asked), 'The stored text')
    },
  },
] as const satisfies readonly Check[]

const resume = 'resume'
const follows = [...needs, 'follow'] as const

export const resumeChecks = [
  {
    id: 'resume.every-position',
    level: resume,
    needs: follows,
    rule: 'Behind each position comes exactly the rest, while the reply runs.',
    reason: 'A lost connection must neither cost a word nor show one twice.',
    async run(context) {
      const running = await startReply(context, 'words 100 gap 20')
      await running.words(15)
      const positions = running.received.items.filter(({ text }) => text !== undefined)
      const texts = positions.map((_, at) =>
        positions
          .slice(0, at + 1)
          .map(({ text }) => text ?? '')
          .join(''),
      )
      const rests = await Promise.all(positions.map(({ id }) => follow(context, running, id)))
      const { text } = await running.over
      expectText(text, textFor(running.asked), 'The streamed text')
      for (const [at, rest] of rests.entries()) {
        const what = `Behind position ${positions[at]?.id}`
        expectText(rest.text, text.slice(texts[at]?.length), what)
        expectEnd(rest, ['complete'], what)
      }
    },
  },
  {
    id: 'resume.two-readers',
    level: resume,
    needs: follows,
    rule: 'Two readers of one reply get the same.',
    reason: 'People have two tabs, and a colleague.',
    async run(context) {
      const running = await startReply(context, 'words 40 gap 15')
      await running.words(5)
      const [first, second] = await Promise.all([follow(context, running, null), follow(context, running, null)])
      const { text } = await running.over
      expectText(text, textFor(running.asked), 'The streamed text')
      expectText(first.text, text, 'The first reader’s text')
      expectText(second.text, text, 'The second reader’s text')
    },
  },
  {
    id: 'resume.after-end',
    level: resume,
    needs: [...follows, 'followEnded'],
    rule: 'A reader that comes back after the end gets the rest and the end.',
    reason: 'A train leaves a tunnel when the reply is long over.',
    async run(context) {
      const running = await startReply(context, 'words 12')
      const { items, text } = await running.over
      let length = 0
      for (const item of items.filter((piece) => piece.text !== undefined)) {
        length += item.text?.length ?? 0
        const rest = await follow(context, running, item.id)
        expectText(rest.text, text.slice(length), `Behind position ${item.id}, after the end`)
        expectEnd(rest, ['complete'], `Behind position ${item.id}, after the end`)
      }
    },
  },
  {
    id: 'resume.unknown-position',
    level: resume,
    needs: [...follows, 'followEnded'],
    rule: 'A position that never was is refused, or answered with all or nothing.',
    reason: 'A silent gap is worse than an error.',
    async run(context) {
      const running = await startReply(context, 'words 12')
      const { text } = await running.over
      for (const position of ['999999999', 'no-such-position']) {
        const rest = await follow(context, running, position).catch((error: unknown) => {
          if (Object(error).status >= 400 && Object(error).status < 500) return null
          throw error
        })
        const isFair = rest === null || rest.text === '' || rest.text === text
        expect(
          isFair,
          `Behind the unknown position ${position} came ${rest?.text.length} of ${text.length} characters.`,
        )
      }
    },
  },
  {
    id: 'remove.readers-end',
    level: resume,
    needs: [...needs, 'read', 'remove'],
    rule: 'When a conversation is removed, its readers’ streams end and nothing of it can be read.',
    reason: 'Whoever deletes a conversation means it.',
    async run(context) {
      const running = await startReply(context, 'words 2000 gap 20')
      await running.words(3)
      await context.adapter.remove(running.conversation, context.target)
      const { items } = await running.over
      expect(items.length < 2000, 'The stream went on to the reply’s end.')
      await until(
        context.signal,
        () => 'nothing of a removed conversation to be read, and it is',
        async () => {
          const left = await context.adapter.read(running.conversation, context.target).catch(() => [])
          return left.length === 0
        },
      )
    },
  },
] as const satisfies readonly Check[]
