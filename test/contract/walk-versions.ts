/** Every operation of versions and drafts, as the document declares it. */

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<any>

const one = '/api/v1/agents/{id}'

export async function walkVersions(walk: Walk, id: string): Promise<void> {
  await walk('get', `${one}/versions`, { id })
  for (const n of ['1', 'no']) {
    await walk('get', `${one}/versions/{n}`, { id, n })
    await walk('post', `${one}/versions/{n}/publish`, { id, n })
  }
  for (const [method, path] of [
    ['post', 'publish'],
    ['delete', 'draft'],
  ] as const) {
    await walk('put', `${one}?draft=true`, { id }, { model: 'drafted' })
    for (const _ of ['there', 'gone']) await walk(method, `${one}/${path}`, { id })
  }
}
