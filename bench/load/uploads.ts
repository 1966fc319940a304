/**
 * A client that sends pictures of 20 MiB, one after the other, each in a session of its own and at a steady pace, and
 * the model that takes them: a separate process, since the replies that are measured beside share neither with it.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const MIB = 2 ** 20
const PICTURE_BYTES = 20 * MIB
const STEP_MS = 20

export type UploadJob = { /** URL of the agent's deploy API. */ deploy: string; bytesPerSecond: number }
/** Milliseconds that /livez took meanwhile, at most, and how many pictures were taken. */
export type Uploaded = { pictures: number; livezMs: number }

const signature = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const head = '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,'
const SALT_BYTES = 24

/** Made once: a client that encodes 20 MiB for each would take the time of the replies that are measured beside it. */
const body = (() => {
  const bytes = Buffer.alloc(PICTURE_BYTES, 'picture ')
  signature.copy(bytes)
  return Buffer.from(`${head}${bytes.toString('base64')}"}}]}]}`)
})()

/** Changes the picture: a stored one is not stored again. */
function change(): void {
  body.write(randomBytes(SALT_BYTES).toString('base64'), head.length + 64, 'latin1')
}

async function send(session: string, bytesPerSecond: number): Promise<void> {
  change()
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const post = request(`${session}/chat/completions`, { method: 'POST', headers })
  const answered = once(post, 'response')
  const begin = performance.now()
  for (let at = 0; at < body.length; ) {
    const due = Math.ceil(((performance.now() - begin + STEP_MS) / 1000) * bytesPerSecond)
    const end = Math.min(body.length, due)
    if (end > at && !post.write(body.subarray(at, end))) await once(post, 'drain')
    at = Math.max(at, end)
    await pause(STEP_MS)
  }
  post.end()
  const [answer] = await answered
  for await (const _ of answer);
  if (answer.statusCode !== 200) throw new Error(`A picture was answered with ${answer.statusCode}.`)
}

let isOver = false
let running: Promise<Uploaded> | null = null

async function upload({ deploy, bytesPerSecond }: UploadJob): Promise<Uploaded> {
  isOver = false
  let livezMs = 0
  const livez = (async () => {
    while (!isOver) {
      const begin = performance.now()
      await (await fetch(new URL('/livez', deploy))).arrayBuffer()
      livezMs = Math.max(livezMs, performance.now() - begin)
      await pause(STEP_MS)
    }
  })()
  let pictures = 0
  for (; !isOver; pictures++) {
    const made = await fetch(`${deploy}/sessions`, { method: 'POST' })
    await send(`${deploy}/sessions/${Object(await made.json()).id}`, bytesPerSecond)
  }
  await livez
  return { pictures, livezMs }
}

const frames = ['{"role":"assistant","content":"ok"},"finish_reason":null', '{},"finish_reason":"stop"'].map(
  (delta) =>
    `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":${delta}}]}\n\n`,
)
const model = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${frames.join('')}data: [DONE]\n\n`)
  })
})
await once(model.listen(0, '127.0.0.1'), 'listening')

process.on('message', (job: UploadJob | 'end') => {
  if (job !== 'end') {
    running = upload(job)
    return
  }
  isOver = true
  running?.then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ port: (model.address() as AddressInfo).port })
