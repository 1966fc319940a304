/** The pages around a running product: versions, drafts, replays, shares, children, approvals, keys, webhooks, replies. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { startUpstream, type UpstreamCall } from '../../test/support/network/upstream.ts'
import { addAgent, type Product } from '../../test/support/programs/product.ts'
import type { Shot } from './shots.ts'

const ordinary = 'Within 30 days, in any box. The label is in your account, under *Returns*.'

/** Answers by the last message's words. */
async function play(call: UpstreamCall): Promise<void> {
  const { messages, model } = call.body
  const last = messages.at(-1)
  const said = String(last.content)
  if (last.role !== 'tool' && model !== 'ledger') {
    if (said.includes('owes')) return await asks(call, 'ledger', '{"message":"What does Ann owe?"}')
    if (said.includes('handbook')) return await asks(call, 'web_fetch', `{"url":"https://example.com/${said.length}"}`)
    if (said.includes('time')) return await asks(call, 'current_time', '{"timeZone":"Europe/Paris"}')
  }
  if (said.includes('refuse')) return call.error(401, { error: { message: 'The API key has expired.' } })
  if (said.includes('stall')) {
    await call.text('The dimmer hums because')
    return await call.closed
  }
  await call.text(last.role === 'tool' ? `It says: ${said.slice(0, 60)}` : ordinary)
  await call.finish()
}

async function asks(call: UpstreamCall, name: string, args: string): Promise<void> {
  await call.text('Let me look.')
  await call.toolCall({ id: `c${call.number}`, name, arguments: args })
  await call.finish('tool_calls')
}

const idOf = ({ data, error }: { data?: { id: string }; error?: unknown }): string => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

const done = async (answer: Promise<{ error?: unknown }>): Promise<void> => {
  const { error } = await answer
  if (error) throw new Error(JSON.stringify(error))
}

/** The pages' records, by what they are. */
type Made = Record<
  | ('agent' | 'webhook' | 'key' | 'replay' | 'shared')
  | ('answered' | 'timed' | 'child' | 'failed' | 'asking')
  | ('replyFailed' | 'replyTimed' | 'replyAsks'),
  string
>

/** Talks to the agent in the playground. */
function talkTo({ url, client }: Product, agentId: string) {
  const begin = async (message: string) => {
    const answer = await fetch(`${url}/api/v1/agents/${agentId}/playground/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message }),
    })
    return { id: answer.headers.get('x-session-id') ?? '', answer }
  }
  return {
    begin,
    async say(message: string) {
      const { id, answer } = await begin(message)
      await answer.text()
      return id
    },
    async replyOf(session: string) {
      const params = { path: { agent_id: agentId, session_id: session } }
      const { data } = await client.GET('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages', {
        params,
      })
      return data?.messages.find(({ role }) => role === 'assistant')?.id ?? ''
    },
  }
}

const prompt = 'You are the support agent of Lantern.\n\nAnswer in two sentences.\nNever promise a refund.'

/** Creates an agent that asks another one, and whose web_fetch waits for a decision. */
async function createAgent(product: Product, baseUrl: string): Promise<string> {
  const { client } = product
  const agentId = await addAgent(product, baseUrl)
  const at = { params: { path: { id: agentId } } }
  const body = { name: 'Order desk', model: 'gpt-oss-120b', systemPrompt: prompt }
  await done(client.PUT('/api/v1/agents/{id}', { ...at, body }))
  const { data } = await client.GET('/api/v1/agents/{id}', at)
  const providerId = data?.providerId ?? ''
  const ledger = idOf(await client.POST('/api/v1/agents', { body: { name: 'ledger', providerId, model: 'ledger' } }))
  await done(
    client.PUT('/api/v1/agents/{agent_id}/tools', {
      params: { path: { agent_id: agentId } },
      body: {
        builtInToolIds: ['current_time', 'web_fetch'],
        approvals: ['web_fetch'],
        agentTools: [{ agentId: ledger }],
      },
    }),
  )
  return agentId
}

/** Gives feedback, publishes a version, begins a draft, and replays what was not liked under it. Resolves to the replay. */
async function replayDraft(
  { client }: Product,
  agentId: string,
  disliked: readonly [string, string][],
): Promise<string> {
  for (const [session, reply] of disliked) {
    await done(
      client.PUT('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages/{message_id}/feedback', {
        params: { path: { agent_id: agentId, session_id: session, message_id: reply } },
        body: { score: -1, comment: 'Too long.' },
      }),
    )
  }
  const path = { id: agentId }
  const body = { systemPrompt: prompt.replace('two', 'three') }
  await done(client.PUT('/api/v1/agents/{id}', { params: { path }, body }))
  const draft = { model: 'gpt-oss-20b', systemPrompt: `${prompt}\nBe kind.` }
  await done(client.PUT('/api/v1/agents/{id}', { params: { path, query: { draft: 'true' } }, body: draft }))
  const replayed = { version: 'draft' as const, replies: { feedback: 'down' as const } }
  return idOf(await client.POST('/api/v1/agents/{id}/replays', { params: { path }, body: replayed }))
}

/** Fills the product. `receiver`: an address that takes no webhook. */
async function fill(product: Product, agentId: string, receiver: string): Promise<Made> {
  const { client } = product
  const { say, replyOf } = talkTo(product, agentId)
  const answered = await say('How do I return a lamp?')
  const timed = await say('What time is it in Paris?')
  const child = await say('What is it that Ann owes?')
  const failed = await say('Why do you refuse my order 48213?')
  for (const order of ['48214', '48215']) await say(`Why do you refuse my order ${order}?`)
  const asking = await say('What does the handbook say of refunds?')
  for (const what of ['returned lamps', 'the dimmers of batch 12', 'parcels lost abroad']) {
    await say(`What does the handbook say of ${what}?`)
  }
  const replyTimed = await replyOf(timed)
  const replay = await replayDraft(product, agentId, [
    [answered, await replyOf(answered)],
    [timed, replyTimed],
  ])
  const share = await client.POST('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/shares', {
    params: { path: { agent_id: agentId, session_id: timed } },
    body: { include: ['tools'] },
  })
  const events = ['reply.completed' as const, 'reply.failed' as const]
  const webhook = idOf(
    await client.POST('/api/v1/webhooks', { body: { name: 'Ticket system', url: receiver, events } }),
  )
  await say('How do I return two lamps?')
  const limits = { requestsPerMinute: 60, tokensPerDay: 1000 }
  const key = idOf(await client.POST('/api/v1/keys', { body: { name: 'Shop', scopes: ['deploy'], limits } }))
  return {
    ...{ agent: agentId, webhook, key, replay, shared: share.data?.path ?? '/' },
    ...{ answered, timed, child, failed, asking },
    ...{ replyFailed: await replyOf(failed), replyTimed, replyAsks: await replyOf(asking) },
  }
}

/** Fills the product, and hands the shots to `take` while the servers that they need are up. */
export async function withLaterShots(product: Product, take: (shots: Shot[]) => Promise<void>): Promise<void> {
  await using up = await startUpstream()
  up.always(play)
  const receiver = createServer((_, response) => response.writeHead(503).end('no')).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const agentId = await createAgent(product, up.url)
  const { begin } = talkTo(product, agentId)
  const live = async (page: Page) => {
    const { id, answer } = await begin('Why does it stall?')
    await page.goto(`/chart?agent=${agentId}&session=${id}`)
    await page.locator('[data-state="streaming.generating"][data-lit]').first().waitFor()
    await answer.body?.cancel()
  }
  try {
    await take([
      ...shotsOf(await fill(product, agentId, `http://127.0.0.1:${port}/hook`)),
      { name: 'later-chart-live', path: '/', act: live },
    ])
  } finally {
    receiver.close()
    receiver.closeAllConnections()
  }
}

const share = async (page: Page) => {
  await page.getByRole('button', { name: 'Share this session', exact: true }).click()
  await page.getByRole('dialog').waitFor()
}

function shotsOf(made: Made): Shot[] {
  const talk = `/playground/${made.agent}`
  return [
    { name: 'later-home', path: '/' },
    { name: 'later-sessions', path: '/sessions' },
    { name: 'later-preview', path: '/sessions', act: (page) => page.keyboard.press('j') },
    { name: 'later-search', path: '/sessions?q=lamp' },
    { name: 'later-nothing-found', path: '/sessions?q=zebra' },
    { name: 'later-approvals', path: '/waiting' },
    { name: 'later-versions', path: `/agents/${made.agent}/versions` },
    { name: 'later-draft', path: `/agents/${made.agent}` },
    { name: 'later-draft-tools', path: `/agents/${made.agent}?section=tools` },
    { name: 'later-draft-talk', path: `${talk}/${made.answered}` },
    { name: 'later-replays', path: `/replays/${made.agent}` },
    { name: 'later-replay', path: `/replays/${made.agent}/${made.replay}` },
    { name: 'later-shared', path: made.shared },
    { name: 'later-share-dialog', path: `${talk}/${made.timed}`, act: share },
    { name: 'later-child', path: `${talk}/${made.child}` },
    { name: 'later-asks', path: `${talk}/${made.asking}` },
    { name: 'later-failed', path: `${talk}/${made.failed}` },
    { name: 'later-reply-failed', path: `/replies/${made.replyFailed}` },
    { name: 'later-reply-timed', path: `/replies/${made.replyTimed}` },
    { name: 'later-reply-asks', path: `/replies/${made.replyAsks}` },
    { name: 'later-chart-error', path: `/chart?agent=${made.agent}&session=${made.failed}` },
    { name: 'later-chart-replay', path: `/chart?view=replay&agent=${made.agent}&session=${made.timed}` },
    { name: 'later-chart-actors', path: '/chart?view=actors' },
    { name: 'later-webhooks', path: '/webhooks' },
    { name: 'later-webhook', path: `/webhooks/${made.webhook}` },
    { name: 'later-webhook-new', path: '/webhooks/new' },
    { name: 'later-keys', path: '/keys' },
    { name: 'later-key', path: `/keys/${made.key}` },
    { name: 'later-key-new', path: '/keys/new' },
    { name: 'later-audit', path: '/audit' },
    { name: 'later-connections', path: '/connections' },
    { name: 'later-nowhere', path: '/nowhere' },
    { name: 'later-no-reply', path: '/replies/00000000-0000-4000-8000-000000000000' },
  ]
}
