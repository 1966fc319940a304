/** The playground's pictures: conversations written by a scripted provider: tools, a table, code, a failure. */
import type { Page } from 'playwright-core'
import { startUpstream, type UpstreamCall } from '../../test/support/network/upstream.ts'
import { addAgent, type Product } from '../../test/support/programs/product.ts'
import type { Shot } from './shots.ts'

const answer = `The Paris office opens at **nine in the morning**. Three things are still waiting for it:

| Ticket | Owner | Since |
|---|---|---|
| Refund for order 4711 | Camille | yesterday |
| Broken dimmer, batch 12 | Louis | Monday |
| New lamp shades | *nobody* | 9 days |

The refund can be sent right away:

\`\`\`ts
const refund = await shop.refunds.create({
  order: 4711,
  amount: order.total, // in cents
  reason: 'Broken on arrival',
})
console.log(refund.status)
\`\`\`

1. Send the refund, then close the ticket.
2. Ask Louis for the serial numbers of batch 12.
3. Find somebody for the lamp shades. See the [handbook](https://example.com/handbook).`

const frontDesk = `You are the support agent of Lantern, a shop for reading lamps.

Answer in the customer's language, in at most three short paragraphs. Name the order and the batch whenever they are known.

Before you speak of opening hours, ask for the time at the place that is meant. Send a refund only for an order that was returned, and never for more than its total.`

async function say(product: Product, agentId: string, message: string, sessionId?: string): Promise<string> {
  const stream = await fetch(`${product.url}/api/v1/agents/${agentId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message, ...(sessionId && { sessionId }) }),
  })
  await stream.text()
  return stream.headers.get('x-session-id') ?? ''
}

/** Makes the sessions, has the pictures taken, and ends the provider. */
export async function withPlaygroundShots(product: Product, take: (shots: Shot[]) => Promise<void>): Promise<void> {
  const up = await startUpstream()
  const speak = (text: string) => async (call: UpstreamCall) => {
    await call.text(text)
    await call.finish()
  }
  const agentId = await addAgent(product, up.url)
  const path = { agent_id: agentId }
  const prompt = await product.client.POST('/api/v1/prompts', {
    body: { name: 'Lantern, front desk', content: frontDesk },
  })
  await product.client.PUT('/api/v1/agents/{id}', {
    params: { path: { id: agentId } },
    body: { name: 'Lantern support', model: 'gpt-oss-120b', promptId: prompt.data?.id ?? null },
  })
  await product.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path },
    body: { builtInToolIds: ['current_time', 'web_fetch'] },
  })
  for (const [question, reply] of [
    ['How do I return a lamp?', 'Within 30 days, in any box.'],
    ['Write release notes for 2.4', 'Here they are.'],
    ['Why does the dimmer of batch 12 hum at half power?', 'A capacitor of the wrong size.'],
  ] as const) {
    up.next(speak(reply))
    await say(product, agentId, question)
  }
  up.next((call) => call.error(400, { error: { message: 'The model is overloaded: try again in a minute.' } }))
  const failed = await say(product, agentId, 'Summarise the tickets of last week')
  up.next(async (call) => {
    await call.text('Let me see what time it is there.')
    await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{"timeZone":"Europe/Paris"}' })
    await call.finish('tool_calls')
  })
  up.next(speak(answer))
  const session = await say(product, agentId, 'When does the Paris office open, and what is waiting for it?')
  up.always(async (call) => {
    await call.text(answer.slice(0, 360))
    await call.closed
  })
  const base = `/playground/${agentId}`
  const click = (name: string) => async (page: Page) => {
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByRole('dialog').waitFor()
  }
  const writing = async (page: Page) => {
    await page.getByRole('textbox', { name: 'Message' }).fill('And what about Tokyo?')
    await page.keyboard.press('Enter')
    await page.getByText('New lamp').last().waitFor()
  }
  const stopped = async (page: Page) => {
    await writing(page)
    for (const _ of [1, 2]) await page.keyboard.press('Escape')
    await page.getByTestId('status').getByText('Stopped').waitFor()
  }
  /** A question that waits for a decision. */
  const ask = async () => {
    await product.client.PUT('/api/v1/agents/{agent_id}/tools', {
      params: { path },
      body: { builtInToolIds: ['current_time', 'web_fetch'], approvals: ['web_fetch'] },
    })
    up.next(async (call) => {
      await call.toolCall({ id: 'c2', name: 'web_fetch', arguments: '{"url":"https://example.com/handbook"}' })
      await call.finish('tool_calls')
    })
    return await say(product, agentId, 'What does the handbook say of refunds?')
  }
  const whatHappened = (of: string) => async (page: Page) => {
    await page.getByRole('button', { name: 'Trace' }).last().click()
    await page.getByText('What the model saw').last().waitFor()
    if (of === 'requests') await page.getByText('What the model saw').last().click()
    await page.locator('.mantine-Loader-root').last().waitFor({ state: 'detached' })
  }
  const waiting = await ask()
  try {
    await take([
      { name: 'home-used', path: '/' },
      { name: 'sessions', path: '/sessions' },
      { name: 'waiting', path: '/waiting' },
      { name: 'docs', path: '/docs' },
      { name: 'playground-waiting', path: `${base}/${waiting}` },
      { name: 'playground-trace', path: `${base}/${session}`, act: whatHappened('spans') },
      { name: 'playground-requests', path: `${base}/${session}`, act: whatHappened('requests') },
      { name: 'playground-new', path: base },
      { name: 'playground-chat', path: `${base}/${session}` },
      { name: 'playground-failed', path: `${base}/${failed}` },
      { name: 'playground-code', path: `${base}/${session}`, act: click('Code') },
      {
        name: 'playground-tool',
        path: `${base}/${session}`,
        async act(page) {
          await page.locator('summary').click()
          await page.getByRole('log', { name: 'Conversation' }).evaluate((box) => box.scrollTo(0, 0))
        },
      },
      { name: 'playground-writing', path: base, act: writing },
      { name: 'playground-stopped', path: base, act: stopped },
    ])
  } finally {
    await up.close()
  }
}
