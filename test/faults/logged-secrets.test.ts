/** Contract section 11: a client secret is in no log, even at `trace`, in no trace, no metric and no error. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, expect } from 'vitest'
import { bearer, DEPLOY_KEY, say } from '../features/users/access/front-door-scene.ts'
import { call } from '../http/scene.ts'
import { startCollector } from '../observability/otlp-collector.ts'
import { createAgent } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { untilFollowed } from '../support/followers.ts'
import { freePort } from '../support/programs/free-port.ts'
import { startNginx } from '../support/programs/nginx.ts'
import { startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const database = await freshDatabase()
afterAll(() => database.drop())

/** All that must be nowhere: its three parts too. */
const partsOf = (secret: string): string[] => [secret, ...secret.slice('ek_'.length).split('.')]

verifies('contract-11.no-logs', 'the product at trace, with traces and metrics', async () => {
  const collector = await startCollector()
  const metricsPort = await freePort()
  await using product = await startProduct({
    direct: true,
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 'hush',
      PUBLIC_API_KEY: DEPLOY_KEY,
      LOG_LEVEL: 'trace',
      DRAIN_TIMEOUT_S: '1',
      METRICS_PORT: `${metricsPort}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
  })
  const { agentId } = await createAgent(database)
  const deploy = `${product.url}/api/v1/agents/${agentId}/deploy`
  const made = await call(`${deploy}/client_secrets`, 'POST', { user: 'anna' }, bearer(DEPLOY_KEY))
  const secret: string = made.json.value
  const session = (await call(`${deploy}/sessions`, 'POST', {}, bearer(secret))).json.id
  const own = `${deploy}/sessions/${session}`
  const answers = [
    await call(`${own}/chat/completions`, 'POST', say('/echo hi'), bearer(secret)),
    await call(`${own}/chat/completions`, 'POST', say('/fail'), bearer(secret)),
    await call(`${own}/chat/completions`, 'POST', '{broken', bearer(secret)),
    await call(`${own}/messages?limit=0`, 'GET', undefined, bearer(secret)),
    await call(`${deploy}/chat/completions`, 'POST', say('x'), bearer(secret)),
    await call(`${deploy}/nothing?access_token=${secret}`, 'GET', undefined, bearer(secret)),
    await call(`${deploy}/sessions`, 'GET', undefined, bearer(`${secret}x`)),
    await call(`${own}?access_token=${secret}`, 'GET'),
    await call(`${own}/chat/completions/stream?access_token=${secret}&access_token=${secret}`, 'GET'),
    await call(`${own}/chat/completions/stream?access_token=${secret}`, 'GET', undefined, { 'last-event-id': 'x' }),
    await call(`${product.url}/api/v1/agents?access_token=${secret}`, 'GET', undefined, bearer(secret)),
    await call(`${product.url}/nothing?access_token=${secret}`, 'GET', undefined, bearer(secret)),
  ]
  for (const query of [`access_token=${secret}`, `access%5Ftoken=${secret}`]) {
    const stream = await openSse(`${own}/chat/completions/stream?${query}`)
    expect(stream.status).toBe(200)
    await stream.rest()
  }
  const waiting = call(`${own}/chat/completions`, 'POST', say('/hang'), bearer(secret))
  await untilFollowed(product.url, session, 1)
  const streaming = await openSse(`${own}/chat/completions/stream?access_token=${secret}`)
  await call(`${deploy}/users/anna/revoke`, 'POST', undefined, bearer(DEPLOY_KEY))
  await streaming.rest()
  answers.push(await waiting)
  answers.push(await call(own, 'GET', undefined, bearer(secret)))
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  await product.stop()
  await collector.close()
  const logged = [...product.stdout, ...product.stderr].join('\n')
  expect(logged).toContain('"msg":"answered"')
  expect(collector.spans.length).toBeGreaterThan(5)
  const shown = {
    logged,
    traced: JSON.stringify(collector.spans),
    metrics,
    answered: answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n'),
  }
  for (const [where, text] of Object.entries(shown)) {
    for (const part of partsOf(secret)) expect(text.includes(part), where).toBe(false)
  }
})

verifies('contract-11.no-logs', 'nginx with the file that users get, whatever becomes of the request', async () => {
  // Takes a connection and closes it, so that nginx has something to log.
  const broken = createServer((socket) => socket.on('data', () => socket.destroy()))
  broken.listen(0, '127.0.0.1')
  await once(broken, 'listening')
  const address = broken.address()
  const port = typeof address === 'object' ? address?.port : 0
  await using nginx = await startNginx([`http://127.0.0.1:${port}`, `http://127.0.0.1:${await freePort()}`], 500)
  const path = `${nginx.url}/api/v1/agents/a/deploy/sessions/b`
  for (const query of ['access_token=ek_hush', 'access%5Ftoken=ek_hush', 'a=b&ACCESS_TOKEN=ek_hush']) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? say('x') : undefined
      const answer = await call(`${path}/chat/completions/stream?${query}`, method, body)
      expect([answer.status, answer.json]).toEqual([502, { error: 'No instance answered.' }])
    }
  }
  await call(`${path}/messages?limit=5`, 'GET')
  await expect.poll(() => nginx.said()).toContain('limit=5')
  expect(nginx.said()).not.toContain('hush')
  broken.close()
})
