/** Uploads for tests of files. */
import type { Scene } from '../../http/scene.ts'

export type Fields = Record<string, string>

export function formOf(content: Uint8Array | string | null, fields: Fields = {}, name = 'notes.txt'): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.append(key, value)
  if (content !== null)
    form.append('file', new File([new Uint8Array(Buffer.from(content))], name, { type: 'image/png' }))
  return form
}

export async function sendForm(
  { app }: Pick<Scene, 'app'>,
  path: string,
  body: FormData | string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${app.url}${path}`, { method: 'POST', body, headers })
  // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
  const json: any = await response.json()
  return { status: response.status, headers: response.headers, json }
}

/** Makes a client secret of the scene's agent, as a header. */
export async function secretOf({ call, agent }: Pick<Scene, 'call' | 'agent'>, user: string) {
  const { json } = await call('POST', `${agent}/deploy/client_secrets`, { user })
  return { authorization: `Bearer ${json.value}` }
}
