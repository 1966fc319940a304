/** Requests through a proxy: https by a tunnel, http by a request for the whole address. undici speaks to the proxy. */
import { type Agent, type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { ProxyError } from '../../../untrusted/proxy-error.ts'
import { skipInterimAnswers } from '../interim-answers.ts'

/** Agent's options that hold for every connection, direct or not. */
export type ConnectionOptions = Pick<
  Agent.Options,
  'headersTimeout' | 'bodyTimeout' | 'keepAliveTimeout' | 'maxHeaderSize'
>

/** Creates the dispatcher of one proxy. `connectMs`: the limit for connecting, and for the proxy's own answer. */
export function throughProxy(url: string, options: ConnectionOptions, connectMs: number): Dispatcher {
  const { protocol, host, username, password } = new URL(url)
  const login = username === '' && password === '' ? null : `${decoded(username)}:${decoded(password)}`
  const agent = new ProxyAgent({
    ...options,
    uri: `${protocol}//${host}`,
    ...(login !== null && { token: `Basic ${Buffer.from(login).toString('base64')}` }),
    allowH2: false, // an abort must close the socket, which in HTTP/2 is shared
    connectTimeout: connectMs,
    proxyTls: { allowH2: false },
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: connectMs, bodyTimeout: connectMs }),
    factory: (origin, given) => new Pool(origin, { ...given, ...options, connect: mended(given) }),
  })
  return agent.compose(named(host))
}

/** Returns a credential as it is. One whose `%` stands for itself is not encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Lets a connection skip informational answers, as direct ones do. */
function mended(given: object): buildConnector.connector {
  const { connect } = given as { connect: buildConnector.connector } // undici's own: a function in both of its uses
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (socket) skipInterimAnswers(socket)
      if (error) callback(error, null)
      else callback(null, socket)
    })
}

/** Says in each failure that the proxy was asked. What the caller aborts keeps its reason. */
const named =
  (proxy: string): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      ...handler,
      onResponseError(controller, error) {
        const isOurs = controller?.aborted === true && controller.reason === error
        handler.onResponseError?.call(this, controller, isOurs ? error : new ProxyError(proxy, refusalIn(error), error))
      },
    })

/** Returns the proxy's refusal, which undici has in its message. Null when the proxy did not refuse. */
function refusalIn({ message }: Error): string | null {
  const [, status] = /^Proxy response \((\d{3})\)|\((407)\)$/.exec(message)?.filter((part) => part) ?? []
  if (status === '407') return 'it wants a user and password (407)'
  return status === undefined ? null : `it answered ${status}`
}
