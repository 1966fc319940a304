/** How many files arrive at a time (contract section 32). */
import { expect, onTestFinished } from 'vitest'
import { createUploadSlots } from '../../../src/features/files/routes/uploads-under-way.ts'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { formOf, sendForm } from './files-scene.ts'

verifies('contract-32.files-size', '32 of an instance and 4 of a user arrive at a time; others are 503', () => {
  const slots = createUploadSlots()
  const ofAnna = Array.from({ length: 4 }, () => slots.take('anna'))
  expect(() => slots.take('anna')).toThrow(expect.objectContaining({ status: 503, headers: { 'retry-after': '2' } }))
  const others = Array.from({ length: 28 }, () => slots.take(null))
  for (const user of [null, 'bert']) expect(() => slots.take(user)).toThrow('Too many files')
  for (const release of [...ofAnna, ...others]) release()
  expect(() => Array.from({ length: 4 }, () => slots.take('anna'))).not.toThrow()
})

verifies('contract-32.files-size', 'a draining instance takes no upload', async () => {
  const scene = await openScene({ settings: {} })
  onTestFinished(scene.close)
  const begun = scene.byHand()
  const asked = scene.stateless([{ role: 'user', content: 'Hi' }])
  const upstream = await begun
  const stopped = scene.app.stop()
  const { status, headers, json } = await sendForm(scene, `${scene.agent}/deploy/files`, formOf('late'))
  expect([status, headers.get('retry-after'), json.error.message]).toEqual([503, '2', expect.any(String)])
  await upstream.finish()
  expect((await asked).status).toBe(200)
  await stopped
})
