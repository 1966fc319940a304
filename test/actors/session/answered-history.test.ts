/** The history that an admission answers: it is sent as it is, and only one that was not answered is read. */
import { expect } from 'vitest'
import type { History, Model } from '../../../src/actors/ports/index.ts'
import { told } from '../../support/streams/model-stream.ts'
import { verifies } from '../../verifies.ts'
import { memoryJournal } from '../memory-journal.ts'
import { end, follow, message, openScene, say, started } from '../scene.ts'

const historyOf = (before: string): History => ({
  messages: [
    { role: 'user', content: before },
    { role: 'assistant', content: 'An answer.' },
  ],
  isWhole: true,
  checkpoint: null,
  before: null,
})

/** What the model is sent, and how often a history is read. */
async function sentBehind(answered: (() => History) | undefined) {
  const { journal } = memoryJournal()
  const sent: string[] = []
  let reads = 0
  const model: Model = {
    countTokens: async (texts) => texts.map(({ length }) => length),
    stream: told(async function* ({ messages }) {
      sent.push(...messages.map(({ content }) => content))
      yield say('Hello.')
      yield end
    }),
  }
  const { host } = openScene({
    model,
    journal: {
      ...journal,
      async admit(wanted) {
        const admission = await journal.admit(wanted)
        if (admission.outcome !== 'admitted') return admission
        return { ...admission, historyEnd: 1, ...(answered && { history: answered }) }
      },
      async history() {
        reads += 1
        return historyOf('as it was read')
      },
    },
  })
  await follow(started(await host.send(message())).reply).done
  return { sent, reads }
}

verifies('contract-4.history', 'what came with the admission is not read again', async () => {
  const { sent, reads } = await sentBehind(() => historyOf('as it was answered'))
  expect(sent).toEqual(['as it was answered', 'An answer.', 'hi'])
  expect(reads).toBe(0)
})

verifies('contract-4.history', 'what did not come with the admission is read once', async () => {
  const { sent, reads } = await sentBehind(undefined)
  expect(sent).toEqual(['as it was read', 'An answer.', 'hi'])
  expect(reads).toBe(1)
})
