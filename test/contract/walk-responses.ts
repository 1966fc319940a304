/** Every operation of the Responses API, below an agent and below `/api/v1/openai`, as the document declares it. */

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
export type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<any>

export async function walkResponses(walk: Walk, agent_id: string): Promise<void> {
  for (const base of ['/api/v1/agents/{agent_id}/deploy', '/api/v1/openai']) {
    const model = base.endsWith('openai') ? { model: agent_id } : {}
    const created = await walk('post', `${base}/conversations`, { agent_id }, { items: [], ...model })
    const conversation = { agent_id, conversation_id: created.id }
    const made = await walk('post', `${base}/responses`, { agent_id }, { input: 'x', conversation: created, ...model })
    const response = { agent_id, response_id: made.id }
    await walk('post', `${base}/responses`, { agent_id }, { input: 'x', store: false, ...model })
    await walk('post', `${base}/responses`, { agent_id }, { input: 5, ...model })
    await walk('get', `${base}/responses/{response_id}`, response)
    await walk('post', `${base}/responses/{response_id}/cancel`, response)
    await walk('get', `${base}/responses/{response_id}/input_items`, response)
    await walk('get', `${base}/conversations/{conversation_id}/items`, conversation)
    await walk('post', `${base}/responses/input_tokens`, { agent_id }, { input: 'x', ...model })
    const second = await walk(
      'post',
      `${base}/responses`,
      { agent_id },
      { input: 'y', conversation: created, ...model },
    )
    await walk('post', `${base}/responses/compact`, { agent_id }, { previous_response_id: second.id, ...model })
    await walk('post', `${base}/responses/compact`, { agent_id }, model)
    const item = { role: 'user', content: 'z' }
    const { first_id } = await walk('post', `${base}/conversations/{conversation_id}/items`, conversation, {
      items: [item],
    })
    const last = { ...conversation, item_id: first_id }
    for (const method of ['get', 'delete', 'get'])
      await walk(method, `${base}/conversations/{conversation_id}/items/{item_id}`, last)
    await walk('delete', `${base}/responses/{response_id}`, { agent_id, response_id: second.id })
    for (const _ of [1, 2]) await walk('delete', `${base}/responses/{response_id}`, response)
    await walk('get', `${base}/conversations/{conversation_id}`, conversation)
    await walk('post', `${base}/conversations/{conversation_id}`, conversation, { metadata: { a: 'b' } })
    for (const _ of [1, 2]) await walk('delete', `${base}/conversations/{conversation_id}`, conversation)
  }
}
