/** The operations of files. */
import type { Scene } from '../http/scene.ts'

type Walk = (
  method: string,
  template: string,
  ids: Record<string, string>,
  body?: unknown,
  by?: Scene,
  headers?: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
) => Promise<any>

const places = ['/api/v1/agents/{agent_id}/deploy/files', '/api/v1/openai/files']

export async function walkFiles(walk: Walk, agentId: string): Promise<void> {
  const form = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc\r\n--x--\r\n'
  for (const files of places) {
    const agent = files.includes('{agent_id}') ? { agent_id: agentId } : {}
    const { id: file_id } = await walk('post', files, agent, form, undefined, {
      'content-type': 'multipart/form-data; boundary=x',
    })
    await walk('post', files, agent, {})
    await walk('get', files, agent)
    await walk('get', `${files}/{file_id}`, { ...agent, file_id })
    await walk('get', `${files}/{file_id}/content`, { ...agent, file_id })
    for (const _ of ['there', 'gone']) await walk('delete', `${files}/{file_id}`, { ...agent, file_id })
  }
}
