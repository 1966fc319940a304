/**
 * `node scripts/package/name-repository.ts https://HOST/OWNER/NAME`: writes into the manifests of all packages where their
 * source lies. A release does it with its own address, so that a fork's packages name the fork: the registry takes provenance
 * only from the repository that a package names.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folders of the package's manifests, below the root. */
const folders = ['', 'packages/client', 'packages/conformance']

/** Returns the manifest with `repository`, `homepage` and `bugs`. `address`: `https://HOST/OWNER/NAME`. */
export function named(manifest: string, address: string, directory: string): string {
  const repository = { type: 'git', url: `git+${address}.git`, ...(directory !== '' && { directory }) }
  const homepage = directory === '' ? `${address}#readme` : `${address}/tree/main/${directory}#readme`
  const known: object = JSON.parse(manifest)
  return `${JSON.stringify({ ...known, repository, homepage, bugs: { url: `${address}/issues` } }, null, 2)}\n`
}

function main(): number {
  const [, , address = ''] = argv
  if (!/^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/.test(address)) {
    console.error('Usage: node scripts/package/name-repository.ts https://HOST/OWNER/NAME')
    return 2
  }
  for (const folder of folders) {
    const file = join(root, folder, 'package.json')
    writeFileSync(file, named(readFileSync(file, 'utf8'), address, folder))
  }
  return 0
}

if (import.meta.main) exit(main())
