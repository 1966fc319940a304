/**
 * What every page needs is named in index.html; what a page needs besides, by its address, in preloads.json, from which the
 * server adds it to index.html: all are fetched together and not one round trip after another.
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
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle, path }) => (bundle && path === '/index.html' ? begunByEntry(html, bundle) : html),
  },
  generateBundle(_options, bundle) {
    const known = filesFor('main.tsx', bundle)
    const files = Object.entries(pages).map(([path, page]) => [
      path,
      [...filesFor(page, bundle)].filter((file) => !known.has(file)).map((file) => `/${file}`),
    ])
    this.emitFile({ type: 'asset', fileName: 'preloads.json', source: JSON.stringify(Object.fromEntries(files)) })
  },
})

/**
 * Vite has named the files of main.tsx as scripts, in the order in which they run: what it needs, then itself. The script is
 * entry.ts instead, which begins them in this order.
 */
function begunByEntry(html: string, bundle: Rolldown.OutputBundle): string {
  const [entry] = filesFor('entry.ts', bundle)
  const scripts = /\s*<script type="module"[^>]* src="([^"]+)"><\/script>/g
  const links = [...html.matchAll(scripts)].map(
    ([, file]) => `<link data-rel="modulepreload" crossorigin data-begins href="${file}">`,
  )
  return html
    .replaceAll(scripts, '')
    .replace('</head>', `  ${links.join('\n    ')}\n    <script type="module" src="/${entry}"></script>\n  </head>`)
}

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
