/** What provider calls need of the world: fetch, handed in, and reading what it answers. */

export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array> | null
}

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  redirect: 'manual'
}

/** What a provider call needs of fetch. `globalThis.fetch` fits, and so does a guard around it. */
export type ProviderFetch = (url: string, init: FetchInit) => Promise<FetchResponse>

/** The text of a body, its first `maxBytes` only; the rest is not read. Rejects when the connection breaks. */
export async function readText(body: FetchResponse['body'], maxBytes: number): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    while (bytes < maxBytes) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      bytes += value.length
      text += decoder.decode(value.subarray(0, value.length - Math.max(0, bytes - maxBytes)), { stream: true })
    }
    return text
  } finally {
    reader.cancel().catch(() => {}) // harmless after the end
  }
}
