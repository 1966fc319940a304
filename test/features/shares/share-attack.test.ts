/** A share's token at every operation of the contract: it writes nothing, and shows no other session. */
import { afterAll, expect } from 'vitest'
import { tags } from '../../../openapi/contract.ts'
import type { Operation } from '../../../openapi/operation.ts'
import { openScene } from '../../http/scene.ts'
import { cellInTier, tier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'

const KEY = 'deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: KEY } })
afterAll(scene.close)
scene.says(['Fine.'])
const key = { authorization: `Bearer ${KEY}` }

const everywhere = tags
  .flatMap(({ operations }) => Object.entries<Operation>(operations))
  .filter(([, { scope, open }]) => scope !== 'health' && !open)

const isAsked = cellInTier(3)

/** What instances write by themselves, whoever asks for what. */
const ownTables = [
  ...['instances', 'jobs', 'flushes', 'handovers', 'actor_reports'],
  ...['message_signatures', 'signature_slices', 'signature_progress'],
]

/** Returns the content of all other tables. */
async function dump(): Promise<string[]> {
  const tables = await scene.app.sql<{ name: string }[]>`
    select tablename as name from pg_tables
     where schemaname = current_schema() and tablename <> all (${ownTables}::text[]) order by 1`
  const texts: string[] = []
  for (const { name } of tables) {
    const [row] = await scene.app.sql<{ text: string | null }[]>`
      select md5(string_agg(t::text, ' ' order by t::text)) as text from ${scene.app.sql(name)} t`
    texts.push(`${name} ${row?.text}`)
  }
  return texts
}

verifies(
  'contract-31.share-opens',
  'no operation of the contract writes with a token, or shows another session',
  async () => {
    const make = async (content: string): Promise<string> => {
      const messages = [{ role: 'user', content }]
      return (await scene.call('POST', scene.sessions, { user: 'ann', messages }, key)).json.id
    }
    const [mine, other] = [await make('Mine'), await make('Hidden')]
    const all = { live: true, include: ['tools', 'reasoning'] }
    const { token } = (await scene.call('POST', `${scene.sessions}/${mine}/shares`, all, key)).json
    const before = await dump()
    const wrong: unknown[] = []
    let asked = 0
    // Without a login everybody may do everything in management, except who sends a share as the bearer token.
    for (const [row, [id, { path, method, scope, share }]] of everywhere.entries())
      for (const session of [mine, other])
        for (const [column, place] of (scope === 'management' ? ['header'] : ['header', 'query', 'both']).entries()) {
          if (scope !== 'management' && !isAsked(row, column)) continue
          const named = path
            .replace('{session_id}', session)
            .replace('{agent_id}', scene.agentId)
            .replace('{user}', 'ann')
            .replace(/\{\w+\}/g, session)
          const isRead = share === true && session === mine
          const body = method === 'get' || method === 'delete' ? undefined : {}
          const url = place === 'header' ? named : `${named}?access_token=${token}`
          const headers = place === 'query' ? {} : { authorization: `Bearer ${token}` }
          const { status, text } = await scene.call(method.toUpperCase(), url, body, headers)
          asked += 1
          const isRight = isRead ? [200, 204, 404].includes(status) : [401, 403, 404].includes(status)
          if (!isRight || text.includes('Hidden')) wrong.push([id, place, session === mine, status, text])
        }
    expect(wrong).toEqual([])
    expect(asked).toBeGreaterThan(tier === 'long' ? 400 : 200)
    expect(await dump()).toEqual(before)
  },
)
