/**
 * The files that a page needs besides those of every page, by its address: preloads.json, from which the server names them in
 * index.html, so that all are fetched together and not one round trip after another.
 */
import type { Plugin, Rolldown } from 'vite'

/** What is opened first, by the beginning of its address. */
const pages: Readonly<Record<string, string>> = {
  '/': 'home/home-page.tsx',
  '/playground': 'playground/playground-page.tsx',
  '/sessions': 'sessions/sessions-page.tsx',
  '/waiting': 'waiting/waiting-page.tsx',
  '/chart': 'chart/chart-page.tsx',
  '/usage': 'usage/usage-page.tsx',
}

export const preloads = (): Plugin => ({
  name: 'preloads',
  apply: 'build',
  generateBundle(_options, bundle) {
    const everywhere = filesFor('main.tsx', bundle)
    const files = Object.entries(pages).map(([path, page]) => [
      path,
      [...filesFor(page, bundle)].filter((file) => !everywhere.has(file)).map((file) => `/${file}`),
    ])
    this.emitFile({ type: 'asset', fileName: 'preloads.json', source: JSON.stringify(Object.fromEntries(files)) })
  },
})

/** Of this module of ui/src, with all that it imports. */
function filesFor(module: string, bundle: Rolldown.OutputBundle): Set<string> {
  const files = new Set<string>()
  const isIt = (id: string | null) => id?.endsWith(`/ui/src/${module}`)
  const add = (name: string) => {
    const chunk = bundle[name]
    if (chunk?.type !== 'chunk' || files.has(name)) return
    files.add(name)
    for (const one of chunk.imports) add(one)
    for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style)
  }
  // The file that it lies in, and one that only hands on what that exports.
  for (const one of Object.values(bundle)) {
    if (one.type === 'chunk' && [one.facadeModuleId, ...one.moduleIds].some(isIt)) add(one.fileName)
  }
  if (files.size === 0) throw new Error(`${module} is no part of the pages`)
  return files
}
