/**
 * What vendors really sent, kept beside the repository (`../shared/recordings`, or `RECORDINGS_DIR`): one JSON file an
 * exchange, with those that followed it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ProviderFetch } from '../../../src/providers/request/fetch.ts'
import { randomOf } from '../../support/random.ts'

export interface Exchange {
  request: { model?: string } | null
  response: { status: number; headers: Record<string, string>; body: string }
}

export interface Recording extends Exchange {
  name: string
  vendor: string
  next?: Exchange[]
  about: { type: string; features: string[]; overflow?: true; serverTools?: true; materialOnly?: true; model?: string }
}

const candidates = [
  process.env.RECORDINGS_DIR ?? '',
  fileURLToPath(new URL('../../../../shared/recordings', import.meta.url)),
]

/** Null when the recordings are not here. */
export const folder: string | null = candidates.find((path) => path !== '' && existsSync(path)) ?? null

export function readRecordings(): Recording[] {
  if (folder === null) return []
  const root = folder
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: vendor }) =>
      readdirSync(join(root, vendor)).map((file) => ({
        ...JSON.parse(readFileSync(join(root, vendor, file), 'utf8')),
        vendor,
        name: `${vendor}/${file.replace('.json', '')}`,
      })),
    )
}

/** How a body is cut into what the network brings. */
export type Split = 'whole' | 'at random bytes' | 'slowly'

export function player({ status, headers, body }: Exchange['response'], split: Split, seed: number): ProviderFetch {
  const bytes = Buffer.from(body)
  const next = randomOf(seed)
  return async () => ({
    status,
    headers: new Headers(headers),
    async read(take) {
      const most = split === 'whole' ? bytes.length : split === 'slowly' ? 40 : 700
      for (let at = 0; at < bytes.length; ) {
        const end = split === 'whole' ? bytes.length : at + 1 + Math.floor(next() * most)
        await take(bytes.subarray(at, end))
        at = end
        if (split === 'slowly') await setImmediate()
      }
    },
    cancel() {},
  })
}
