/** Changes of keys while the database fails in what follows them (contract section 10: "503 means that nothing was stored"). */
import { afterAll, beforeAll, expect } from 'vitest'
import { call } from '../../../http/scene.ts'
import { createAgent, startTestApp, type TestApp } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'
import { bearer } from '../../users/access/front-door-scene.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
  await createAgent(app)
  await app.sql.unsafe(`
    create function is_away() returns trigger language plpgsql as $$
    begin
      raise exception 'The database goes away.' using errcode = '57P03';
    end $$`)
})
afterAll(() => app[Symbol.asyncDispose]())

const path = '/api/v1/keys'
const manage = (method: string, to: string, body?: unknown) => call(`${app.url}${to}`, method, body)
const newKey = async () => (await manage('POST', path, { name: 'K', scopes: ['deploy'] })).json

verifies('contract-23.keys', 'a key or an agent whose price cannot be read is not made, or not changed', async () => {
  const { id } = await newKey()
  const agent = `/api/v1/agents/${(await manage('GET', '/api/v1/agents')).json.agents[0].id}`
  const { providerId } = (await manage('GET', agent)).json
  const limits = { costPerMonth: 5 }
  await app.sql.unsafe(`
    create function no_prices() returns boolean language plpgsql as $$
    begin
      raise exception 'The database goes away.' using errcode = '57P03';
    end $$;
    alter table ui_settings rename to kept_settings;
    create view ui_settings as select * from kept_settings where no_prices();
    insert into kept_settings (name, value) values ('prices', '{"prices": []}')`)
  const answers = [
    await manage('POST', path, { name: 'costly', scopes: ['deploy'], limits }),
    await manage('PUT', `${path}/${id}`, { name: 'costly', limits }),
    await manage('POST', '/api/v1/agents', { name: 'costly', model: 'm', providerId, userLimits: limits }),
    await manage('PUT', agent, { name: 'costly', userLimits: limits }),
  ]
  await app.sql.unsafe('drop view ui_settings; alter table kept_settings rename to ui_settings')
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503])
  for (const list of [path, '/api/v1/agents']) expect((await manage('GET', `${list}?q=costly`)).json.total).toBe(0)
})

verifies('contract-23.keys', 'a change that is stored is answered, whatever is read of the keys after it', async () => {
  await app.sql`
    create trigger is_away before update of last_used_at on keys for each statement execute function is_away()`
  for (const [method, body, status] of [
    ['PUT', { name: 'other' }, 200],
    ['DELETE', undefined, 204],
  ] as const) {
    const { id, key } = await newKey()
    // That it was used is stored with the next reading.
    expect((await call(`${app.url}/api/v1/openai/models`, 'GET', undefined, bearer(key))).status).toBe(200)
    expect([method, (await manage(method, `${path}/${id}`, body)).status]).toEqual([method, status])
  }
})
