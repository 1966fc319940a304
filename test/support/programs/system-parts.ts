/** System programs for tests, chaos runs and benches. Missing ones are installed through apt if allowed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Program → Debian package. redis-server brings redis-cli with it. */
const packages = {
  'redis-server': 'redis-server',
  nginx: 'nginx-light',
  pgbouncer: 'pgbouncer',
  psql: 'postgresql-client',
  // The headless build: without a window a page takes two thirds of the processor time.
  'chromium-headless-shell': 'chromium-headless-shell',
  openssl: 'openssl',
} as const

export type SystemPart = keyof typeof packages

const parts = Object.keys(packages) as SystemPart[]

// Servers are in sbin, which is not in an ordinary user's PATH.
const folders = () => [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']

/** Returns the absolute path of the program. Throws one line that says what to install, and how. */
export function systemPart(part: SystemPart): string {
  const path = find(part)
  if (path === null) throw new Error(missingLine([part]))
  return path
}

/**
 * Installs what is missing; called once for each run. Prints one line, also for what it could not install: only callers
 * of `systemPart` for that program fail then. Starts no service on the machine.
 */
export function installMissingParts(): void {
  const missing = parts.filter((part) => find(part) === null)
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && find('apt-get') !== null) {
    console.log(`Installing ${missing.join(', ')} through apt …`)
    spawnSync('/bin/sh', ['-c', install, 'sh', ...missing.map((part) => packages[part])], { stdio: 'ignore' })
  }
  const still = missing.filter((part) => find(part) === null)
  if (still.length > 0) console.warn(missingLine(still))
}

// A shell cleans up even if we are killed meanwhile. Debian consults policy-rc.d (101: not allowed) before it starts a
// package's service; an existing one is kept. Package lists are fetched only if apt needs them: a new container has none.
const install = `
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    trap 'exit 1' INT TERM HUP
    printf '#!/bin/sh\\nexit 101\\n' >$policy && chmod 755 $policy
  fi
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  get() { apt-get -o DPkg::Lock::Timeout=300 "$@"; }
  get install --yes --no-install-recommends "$@" || { get update && get install --yes --no-install-recommends "$@"; }`

function missingLine(missing: SystemPart[]): string {
  const names = missing.map((part) => packages[part]).join(' ')
  return `${missing.join(', ')} not found. To be installed by: apt-get install --no-install-recommends ${names}`
}

function find(program: string): string | null {
  for (const folder of folders()) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      if (statSync(path).isFile()) return path
    } catch {
      // not installed
    }
  }
  return null
}

/** Runs a program to its end; rejects with its output. For certificates and the like. */
export function runPart(part: SystemPart, args: string[]): void {
  execFileSync(systemPart(part), args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
