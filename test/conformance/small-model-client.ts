/** The small server's own client of a model: chat completions, streamed. */

/** Yields the pieces of text. Rejects when the stream breaks off. `splits`: bytes of a character are decoded one by one. */
export async function* modelText(
  url: string,
  content: string,
  { signal, splits }: { signal: AbortSignal; splits: boolean },
): AsyncGenerator<string> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content }] }),
    signal,
  })
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: !splits })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue
      const text: unknown = JSON.parse(line.slice(6)).choices[0]?.delta.content
      if (typeof text === 'string' && text !== '') yield text
    }
  }
}
