/** Contract section 26: what two `Host` headers mean depends on who reads them. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

async function statusOf(path: string, headers: string): Promise<string> {
  const { hostname, port } = new URL(scene.app.url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  socket.write(`GET ${path} HTTP/1.1\r\n${headers}connection: close\r\n\r\n`)
  let text = ''
  socket.on('data', (more: string) => {
    text += more
  })
  await once(socket, 'close')
  return text.slice(9, 12)
}

verifies('contract-26.two-hosts', 'are refused on every path, in any writing', async () => {
  for (const path of ['/livez', '/api/v1/agents', '/']) {
    expect([path, await statusOf(path, 'host: localhost\r\n')]).not.toEqual([path, '400'])
    expect([path, await statusOf(path, 'host: localhost\r\nHOST: other.example\r\n')]).toEqual([path, '400'])
  }
})
