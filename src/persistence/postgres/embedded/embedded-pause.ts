/** Makes the embedded PostgreSQL stand still, for those who want to see what that does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cleanEnvironment, type RunAs } from './embedded-host.ts'

/**
 * A script that resumes the processes when its time is over, even if this process has ended: stopped processes would
 * outlive everything.
 */
const script = 'kill -STOP "$@"; echo stopped; sleep "$seconds"; kill -CONT "$@"'

/** Resolves when these processes stand still. They go on after `ms`. */
export async function pauseProcesses(pids: readonly number[], ms: number, user: RunAs): Promise<void> {
  const shell = spawn('/bin/sh', ['-c', script, 'sh', ...pids.map(String)], {
    ...user,
    cwd: '/',
    env: { ...cleanEnvironment, seconds: String(ms / 1000) },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  shell.unref()
  await Promise.race([once(shell.stdout, 'data'), once(shell, 'exit')])
  shell.stdout.destroy()
}
