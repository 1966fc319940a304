/**
 * NOTICE.txt beside the pages: the licence of every package that is part of them, those that other packages bring along
 * included. Written by the build, which alone knows them all.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const INTRODUCTION = 'The pages hold parts of these works, in the form that their build gives them.'

/** Folder and name of the package that a module belongs to. Null: it is our own. */
export function packageOf(moduleId: string): { folder: string; name: string } | null {
  const path = moduleId.replaceAll('\\', '/').replace(/^\0/, '')
  const [, folder, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? []
  return folder === undefined || name === undefined ? null : { folder, name }
}

/** The text of the package's licence; where it brings none, what its manifest says. */
function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((one) => /^licen[sc]e(?:-mit)?(?:\.\w+)?$/i.test(one))
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim()
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const by = typeof author === 'string' ? author : author?.name
  return `${license}${by === undefined ? '' : `, by ${by}`}`
}

/** A file that a package brings ready to run holds the packages that it depends on; no module tells of them. */
function bundledIn(moduleId: string): string[] {
  const one = moduleId.endsWith('?url') ? packageOf(moduleId) : null
  if (one === null) return []
  const root = one.folder.slice(0, -one.name.length)
  const names = new Set<string>()
  const add = (name: string, from: string) => {
    const nested = `${from}/node_modules/${name}`
    const folder = existsSync(nested) ? nested : `${root}${name}`
    if (names.has(folder) || !existsSync(folder)) return
    names.add(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const next of Object.keys(dependencies)) if (!next.startsWith('@types/')) add(next, folder)
  }
  add(one.name, root)
  return [...names].map((folder) => `${folder}/package.json`)
}

/** Packages under the same words stand together. */
export function noticeOf(moduleIds: Iterable<string>): string {
  const folders = new Map<string, string>()
  for (const id of [...moduleIds].flatMap((one) => [one, ...bundledIn(one)])) {
    const one = packageOf(id)
    if (one !== null) folders.set(one.folder, one.name)
  }
  const names = new Map<string, Set<string>>()
  for (const [folder, name] of [...folders].sort(([, a], [, b]) => (a < b ? -1 : 1))) {
    const licence = licenceOf(folder)
    names.set(licence, (names.get(licence) ?? new Set()).add(name))
  }
  const entries = [...names].map(([licence, those]) => `${'─'.repeat(72)}\n${[...those].join(', ')}\n\n${licence}\n`)
  return [`${INTRODUCTION}\n`, ...entries].join('\n')
}

export const notice = (): Plugin => ({
  name: 'notice',
  apply: 'build',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'NOTICE.txt', source: noticeOf(this.getModuleIds()) })
  },
})
