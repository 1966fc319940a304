/** Answers go to the server that asked, at the address at which it asked (contract section 27). */
import { expect } from 'vitest'
import { valuesWithoutSession } from '../../../src/templates/placeholders.ts'
import type { CallOf, McpServer } from '../../../src/tools/mcp/mcp.ts'
import { makeAskingCall, moved } from '../../../src/tools/mcp-servers/asking-call.ts'
import { verifies } from '../../verifies.ts'

const asker: McpServer = {
  ...{ id: 's', name: 'Asks', transport: 'streamable_http', url: 'https://asks.test/mcp', headers: {}, version: '1' },
}
const values = { ...valuesWithoutSession(), sessionId: 'a' }
const states = { seal: (state: string) => `sealed ${state}`, open: (sealed: string) => sealed.replace('sealed ', '') }

verifies('contract-27.moved', 'one whose url or transport has changed since is sent nothing', async () => {
  const sent: (CallOf | undefined)[] = []
  const asks = { questions: [{ key: 'q', message: '?', url: 'https://asks.test/' }], state: 'ü' }
  const mcp = {
    call: async (_server: McpServer, _name: string, _args: object, _signal: AbortSignal, of?: CallOf) => {
      sent.push(of)
      return of?.again ? { ok: true, content: 'done' } : { ok: true, content: '', asks }
    },
    toolsWithin: async () => [],
  }
  const never = () => false
  const once = { signal: new AbortController().signal, key: 'r:1', callId: 'c', mayLeave: never, isAlone: never }
  const call = async (server: McpServer, of?: string) =>
    await makeAskingCall(
      { mcp, values, states },
      {
        ...{ server, name: 't', args: {} },
        once: { ...once, ...(of !== undefined && { again: { of, answers: [], state: 'sealed ü' } }) },
      },
    )
  const { asked } = await call(asker)
  expect(asked).toMatchObject({ server: 'Asks', state: 'sealed ü' })
  const refused = { ok: false, content: moved }
  expect(await call({ ...asker, url: 'https://asks.test/other' }, asked?.of)).toEqual(refused)
  expect(await call({ ...asker, transport: 'sse' }, asked?.of)).toEqual(refused)
  expect(sent).toHaveLength(1)
  expect(await call({ ...asker, name: 'Renamed', version: '2' }, asked?.of)).toEqual({ ok: true, content: 'done' })
  expect(sent[1]?.again?.state).toBe('ü')
})
