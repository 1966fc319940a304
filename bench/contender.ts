/**
 * What a contender is to the bench. A contender stands between a client and the model at `scene.upstreamUrl`; the bench
 * starts it anew for each turn, asks it, counts the processor time and memory of its processes, and stops it. A file
 * under `contenders/` exports `contenders`, an array of them.
 */

/**
 * What a contender keeps of a reply: nothing; the stream, so that it can be read again while it lasts; or the thread,
 * question and answer, for later turns.
 */
export type Keeps = 'nothing' | 'stream' | 'thread'

export type Contender = {
  /** Its name on the command line: lower case, with dashes. */
  readonly name: string
  /** Its name in the tables. */
  readonly title: string
  readonly keeps: Keeps
  /** Packages and versions that it is made of, for the tables. */
  readonly versions?: Readonly<Record<string, string>>
  /**
   * What its processes are started with, for the record: variables and arguments that change its speed. Ours all run as
   * `npm start` does; a peer runs as its own documentation starts it, plus what is named here. Absent: it has no process.
   */
  readonly flags?: string
  start(scene: Scene): Promise<Running>
}

/** What the bench gives a contender that starts. All of it lasts until the bench stops the contender. */
export type Scene = {
  /** Base URL of the model's chat completions, `http://127.0.0.1:PORT/v1`. Any key does. */
  readonly upstreamUrl: string
  /** An empty folder of its own, readable by other OS users. */
  readonly folder: string
  /** A new database on a PostgreSQL of the bench with the usual durability; a connection string. */
  database(): Promise<string>
  /** An empty Redis, `redis://127.0.0.1:PORT`. */
  redis(): Promise<string>
}

/** A contender that is up and answers. Disposing stops it and everything that it started. */
export type Running = AsyncDisposable & {
  /** Prepares for one reply, untimed: makes a new session or thread and answers its id; '' where there is none. */
  open(): Promise<string>
  /**
   * The request of one reply. Its body must carry `prompt` unchanged as the content of the last user message, for the
   * model reads from it what to do: `tokens=100 rate=50` is 100 tokens at 50 a second, `rate=0` all at once. Each token is
   * `T`, thirteen digits (the moment it was sent) and a space, which the load client finds in any framing.
   */
  ask(session: string, prompt: string, stream: boolean): Ask
  /** Root processes that it started. Each is counted with all its descendants, PostgreSQL and Redis apart. */
  pids(): number[]
}

/** A POST of JSON. `follow`: read the reply there instead, with a GET that is sent once the POST is answered. */
export type Ask = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly follow?: { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
}
