/**
 * A contender is a server between a client and the model at `scene.upstreamUrl`. The bench starts it for each turn, sends
 * requests, measures the CPU time and memory of its processes, and stops it. Each file under `contenders/` exports
 * `contenders`, an array of them.
 */

/**
 * The storage of a reply in a contender: nothing; the stream, so that it can be read again while it runs; or the
 * thread, question and answer, for later turns.
 */
export type Keeps = 'nothing' | 'stream' | 'thread'

export type Contender = {
  /** The name on the command line: lower case, with dashes. */
  readonly name: string
  /** The name in the tables. */
  readonly title: string
  readonly keeps: Keeps
  /** The packages and their versions, for the tables. */
  readonly versions?: Readonly<Record<string, string>>
  /**
   * Recorded with the results: variables and arguments of its processes that affect speed. Ours all run as `npm start`
   * does; a peer runs as its own documentation says, plus these. When absent, it has no process.
   */
  readonly flags?: string
  start(scene: Scene): Promise<Running>
}

/** The resources that the bench provides to a contender from its start until it is stopped. */
export type Scene = {
  /** Base URL of the model's chat completions, `http://127.0.0.1:PORT/v1`. Accepts any key. */
  readonly upstreamUrl: string
  /** An empty folder, readable by other OS users. */
  readonly folder: string
  /** Returns the connection string of a new database on the bench's PostgreSQL, with default durability. */
  database(): Promise<string>
  /** Returns an empty Redis, `redis://127.0.0.1:PORT`. */
  redis(): Promise<string>
}

/** A running contender. Disposing stops it and everything it started. */
export type Running = AsyncDisposable & {
  /** Prepares one reply, untimed: creates a session or thread and resolves to its id; '' if there is none. */
  open(): Promise<string>
  /**
   * Returns the request for one reply. Its body must contain `prompt` unchanged as the content of the last user
   * message, since it controls the model: `tokens=100 rate=50` is 100 tokens at 50 a second, `rate=0` all at once. Each
   * token is `T`, thirteen digits (the time it was sent) and a space, which the load client finds in any framing.
   */
  ask(session: string, prompt: string, stream: boolean): Ask
  /**
   * Returns the root processes that it started. Each counts with all its descendants; PostgreSQL and Redis count
   * separately.
   */
  pids(): number[]
}

/** A POST of JSON. `follow`: read the reply there instead, with a GET sent after the POST's response. */
export type Ask = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly follow?: { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
}
