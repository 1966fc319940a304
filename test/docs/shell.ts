/** One bash for all blocks of a page, like a reader's terminal: variables persist. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { killWithUs } from '../support/programs/program.ts'

export interface Ran {
  /** Standard output and standard error of its commands (curl reports progress on the latter). */
  said: string
  complaints: string
  /** Exit code of the last command; 130 if Ctrl-C ended it. */
  code: number
}

export interface Shell extends AsyncDisposable {
  /** `interruptAt`: sends Ctrl-C as soon as this text appears. Later commands run as usual. */
  run(code: string, interruptAt?: RegExp): Promise<Ran>
}

export function openShell(cwd: string, env: Record<string, string>): Shell {
  // With job control each command has its own process group, so Ctrl-C does not reach the shell.
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
