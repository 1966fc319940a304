/** One bash for all blocks of a page, as a reader has one terminal: variables live on. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { killWithUs } from '../support/program.ts'

export interface Ran {
  /** What its commands wrote: to standard output, and to standard error (curl tells of its progress there). */
  said: string
  complaints: string
  /** Of the last command; 130 for one that Ctrl-C ended. */
  code: number
}

export interface Shell extends AsyncDisposable {
  /** `interruptAt`: Ctrl-C as soon as that was said. Commands after it are run as ever. */
  run(code: string, interruptAt?: RegExp): Promise<Ran>
}

export function openShell(cwd: string, env: Record<string, string>): Shell {
  // Job control gives each command a process group of its own, which Ctrl-C reaches without the shell.
  const bash = spawn('bash', ['-m'], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const release = killWithUs(bash.pid ?? 0)
  const closed = new Promise<void>((resolve) => bash.once('close', () => resolve()))
  let text = ''
  let complaints = ''
  let heard = () => {}
  bash.stderr.setEncoding('utf8').on('data', (part: string) => (complaints += part))
  bash.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
    heard()
  })
  return {
    async run(code, interruptAt) {
      const end = randomUUID()
      text = ''
      complaints = ''
      const done = Promise.withResolvers<number>()
      let interrupted = false
      heard = () => {
        const over = new RegExp(`${end} (\\d+)\\n`).exec(text)
        if (over) done.resolve(Number(over[1]))
        if (interrupted || !interruptAt?.test(text)) return
        interrupted = true
        spawn('pkill', ['-INT', '-P', `${bash.pid}`])
      }
      void closed.then(() => done.reject(new Error(`The shell ended: ${text}${complaints}`)))
      bash.stdin.write(`${code}\necho "${end} $?"\n`)
      const status = await done.promise
      return { said: text.replace(new RegExp(`${end} \\d+\\n`), ''), complaints, code: status }
    },
    async [Symbol.asyncDispose]() {
      bash.stdin.end()
      await closed
      release()
    },
  }
}
