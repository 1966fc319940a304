/** An HTTP/1.1 connection that is read byte by byte (RFC 9112, section 7.1). */
import { once } from 'node:events'
import { connect } from 'node:net'

/** A connection whose answers are read by their own words alone; whatever is not well-formed throws. */
export async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let bytes = Buffer.alloc(0)
  let isClosed = false
  let wake = () => {}
  const wakeUp = () => wake()
  socket.on('data', (more) => {
    bytes = Buffer.concat([bytes, more])
    wakeUp()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    wakeUp()
  })
  async function more(): Promise<void> {
    if (isClosed) throw new Error(`closed in the middle, behind ${JSON.stringify(bytes.toString())}`)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  async function take(length: number): Promise<Buffer> {
    while (bytes.length < length) await more()
    const taken = bytes.subarray(0, length)
    bytes = bytes.subarray(length)
    return taken
  }
  async function line(end = '\r\n'): Promise<string> {
    while (!bytes.includes(end)) await more()
    return (await take(bytes.indexOf(end) + end.length)).subarray(0, -end.length).toString('latin1')
  }
  /** The next chunk; null behind the last one. */
  async function chunk(): Promise<string | null> {
    const size = await line()
    if (!/^[1-9a-f][0-9a-f]*$|^0$/.test(size)) throw new Error(`not a chunk's size: ${JSON.stringify(size)}`)
    const content = await take(Number.parseInt(size, 16))
    if ((await line()) !== '') throw new Error('a chunk is longer than it says')
    return size === '0' ? null : content.toString()
  }
  async function chunks(): Promise<string[]> {
    const all: string[] = []
    for (let one = await chunk(); one !== null; one = await chunk()) all.push(one)
    return all
  }
  async function rest(): Promise<string> {
    while (!isClosed) await more()
    return bytes.toString()
  }
  return {
    socket,
    take,
    chunk,
    chunks,
    rest,
    ask: (path: string, { method = 'GET', version = '1.1', headers = '' } = {}) =>
      socket.write(`${method} ${path} HTTP/${version}\r\nHost: localhost\r\n${headers}\r\n`),
    head: () => line('\r\n\r\n'),
    /** Bytes that were not read yet. */
    left: () => bytes.length,
  }
}
export type Connection = Awaited<ReturnType<typeof openConnection>>
