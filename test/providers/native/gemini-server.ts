/** The Gemini API for tests: the documented wire format, and the rules by which requests are refused. */
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/network/upstream.ts'

type Fields = Record<string, unknown>

export const chunk = (value: Fields): string => `data: ${JSON.stringify(value)}\r\n\r\n`

export const error = (code: number, status: string, message: string, details: readonly Fields[] = []) => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
})

export const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })

export const parts = (list: readonly Fields[], more: Fields = {}, whole: Fields = {}): string =>
  chunk({ candidates: [{ content: { parts: list, role: 'model' }, index: 0, ...more }], modelVersion: 'm', ...whole })

export interface Told {
  text?: readonly string[]
  calls?: readonly { id?: string; name: string; args: Fields; thoughtSignature?: string }[]
  finish?: string
  usage?: Fields
}

const someUsage = { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 }

/** A whole turn as server-sent events. */
export function turn({ text = [], calls = [], finish = 'STOP', usage = someUsage }: Told): string {
  const called = calls.map(({ thoughtSignature, ...functionCall }) => ({
    functionCall,
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  }))
  return [
    ...text.map((piece) => parts([{ text: piece }], {}, { usageMetadata: { promptTokenCount: 5 } })),
    ...(called.length > 0 ? [parts(called)] : []),
    parts([{ text: '' }], { finishReason: finish }, { usageMetadata: usage }),
  ].join('')
}

export async function startGemini(): Promise<Upstream & { base: string }> {
  const up = await startUpstream({
    list: () => ({
      models: [
        { name: 'models/gemini-3-flash', supportedGenerationMethods: ['generateContent', 'countTokens'] },
        { name: 'models/embedding-1', supportedGenerationMethods: ['embedContent'] },
      ],
    }),
  })
  return Object.assign(up, { base: up.url.replace(/\/v1$/, '') })
}

/** Plays a turn, or refuses the request as the API would. */
export const tells =
  (told: Told) =>
  async (call: UpstreamCall): Promise<void> => {
    const refusal = refusalOf(call)
    if (refusal !== null) return call.error(400, error(400, 'INVALID_ARGUMENT', refusal))
    await call.raw(turn(told))
    call.end()
  }

/** Null when the API takes this request. */
export function refusalOf({ body, headers, path }: Pick<UpstreamCall, 'body' | 'headers' | 'path'>): string | null {
  if (!/^\/v1beta\/models\/[\w.-]+:streamGenerateContent\?alt=sse$/.test(path)) return `no such path: ${path}`
  if (!headers['x-goog-api-key']) return 'API key not valid'
  if (!body.contents?.length) return 'contents is not specified'
  if (body.contents[0].role !== 'user') return 'Please ensure that multiturn requests begin with a user role'
  // biome-ignore lint/suspicious/noExplicitAny: as below
  const declared = (body.tools ?? []).flatMap((tool: any) => tool.functionDeclarations.map(({ name }: any) => name))
  if (declared.some((name: string) => !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name))) {
    return 'Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.'
  }
  const allowed = body.toolConfig?.functionCallingConfig?.allowedFunctionNames ?? []
  if (!allowed.every((name: string) => declared.includes(name))) return 'allowed_function_names must be declared'
  const signed = path.includes('gemini-3')
  const lastWords = body.contents.findLastIndex(
    // biome-ignore lint/suspicious/noExplicitAny: a request's body, looked into freely
    (content: any) => content.role === 'user' && content.parts.some((part: any) => part.text !== undefined),
  )
  let asked: string[] = []
  for (const [index, { role, parts: list }] of body.contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const answered = list.flatMap((part: any) => part.functionResponse?.name ?? [])
    if (answered.join() !== asked.join()) {
      return 'the number of function response parts must equal that of the function call parts of the function call turn'
    }
    if (answered.length > 0 && answered.length !== list.length) return 'function responses stand alone'
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const calls = list.filter((part: any) => part.functionCall)
    if (signed && index > lastWords && calls.length > 0 && !calls[0].thoughtSignature) {
      return 'Function call is missing a thought_signature in functionCall parts.'
    }
    // biome-ignore lint/suspicious/noExplicitAny: as above
    asked = calls.map((part: any) => part.functionCall.name)
  }
  return asked.length > 0 ? 'a function response turn must come immediately after a function call turn' : null
}
