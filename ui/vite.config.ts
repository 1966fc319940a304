import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { notice } from './notice.ts'
import { oneFontFormat } from './one-font-format.ts'
import { preloads } from './preloads.ts'

const server = 'http://127.0.0.1:8080'

/**
 * What a new conversation is shown with, which is not what shows messages: one file. By the sets of pages that share a module
 * it would be twenty.
 */
const newConversation = new RegExp(
  [
    '/ui/src/playground/(?:chat|acting-as/|connection/|queue/)',
    '/ui/src/playground/sessions/(?:title-of|session-title|session-facts)',
    '/ui/src/playground/composer/(?!question|use-tool-schema|drafts)',
    '/ui/src/playground/transcript/(?:opening|message-actions|transcript\\.)',
    '/ui/src/(?:traces/span-side|blocks/late/(?:late-drawer|use-loaded))',
    '/packages/client/src/message-content',
  ].join('|'),
)

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), oneFontFormat(), notice(), preloads()],
  build: {
    // What these know (light-dark(), nesting) is not rewritten: the rewriting needs a literal color-scheme.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // The Content-Security-Policy knows no data: addresses.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    modulePreload: {
      polyfill: false,
      // A script that is fetched ahead in vain stays failed for good, and every part that imports it with it, also once the
      // server is back (shell/reliable-import.ts). Parts that wait for nothing else are named in index.html (preloads.ts).
      resolveDependencies: (_, files, { hostType }) =>
        hostType === 'js' ? files.filter((file) => file.endsWith('.css')) : files,
    },
    rolldownOptions: {
      // entry.ts begins what index.html names (preloads.ts).
      input: {
        index: `${import.meta.dirname}/index.html`,
        entry: `${import.meta.dirname}/src/entry.ts`,
        share: `${import.meta.dirname}/share.html`,
      },
      output: {
        // Only the beginning of a name that lists all pages that share the file.
        chunkFileNames: ({ name }) => `assets/${name.split('~', 1)[0]}-[hash].js`,
        codeSplitting: {
          // Not a file for each set of pages that share a module: over HTTP/1.1 forty small ones are seven round trips.
          groups: [
            // Three files of libraries, so that each is evaluated as a task of its own (entry.ts).
            { name: 'react', tags: ['$initial'], test: /\/node_modules\/(?:react|react-dom|scheduler)\//, priority: 5 },
            { name: 'mantine', tags: ['$initial'], test: /\/node_modules\/@(?:mantine|floating-ui)\//, priority: 5 },
            { name: 'base', tags: ['$initial'], test: /\/node_modules\//, priority: 4 },
            // What runs when the page starts lies apart: a browser that is watched (Lighthouse, the inspector) parses the file
            // of each function that begins something asynchronous once more, and the libraries' is half a megabyte.
            { name: 'start', tags: ['$initial'], test: /\/ui\/src\/(?!(?:entry|main|routes)\.|share\/)/, priority: 3 },
            // Again a task of its own: it matches the address, asks for the page's files and data, and renders.
            { name: 'begin', tags: ['$initial'], test: /\/ui\/src\/(?:main|routes)\./, priority: 2 },
            // What conversations, calls of tools, lists and forms are shown with is of no page that one sees first.
            {
              name: 'shared',
              test: /\/ui\/src\/(?!templates\/|playground\/(?!queries\.|finding\/linked-message\.|transcript\/branches\.)|chart\/|http-tools\/|traces\/|blocks\/(?:diff|forms(?!\/unload-guard)|editing)\/|blocks\/(?:copy|delete-button|code-block|late\/opened-modal)\.|blocks\/pages\/(?!page\.|page-keys\.|awaited\.))/,
              minShareCount: 3,
              priority: 2,
            },
            // Apart, since a group below is merged with its nearest: for an icon Home, and for a draft the chart, would
            // ask for the playground's.
            {
              name: 'watching',
              test: /\/ui\/src\/(?:chart\/(?!canvas\/|layout\/|reading\/(?!words\.)|replay\/)|traces\/(?:queries|silence\/|words|use-trace|traces\.)|playground\/composer\/drafts)/,
              minShareCount: 2,
              priority: 2,
            },
            // What a reply's page shares with the chart's and the workbench. Without its dependencies: Home would ask for them.
            {
              name: 'drawing',
              test: /\/ui\/src\/chart\/(?:canvas|layout|reading)\//,
              minShareCount: 2,
              includeDependenciesRecursively: false,
              priority: 2,
            },
            {
              name: 'tracing',
              test: /\/ui\/src\/(?:traces\/(?!span-side)|blocks\/diff\/)/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
              priority: 2,
            },
            { name: 'icons', test: /\/@tabler\/icons-react\//, minShareCount: 2, priority: 2 },
            // Libraries' modules that many pages share: one file instead of nine.
            { name: 'often', test: /\/node_modules\/(?!@tabler)/, minShareCount: 8, priority: 2 },
            // Alone: merged with its nearest, tabs would ask for what shows messages.
            {
              name: 'tabs',
              test: /\/@mantine\/(?:core\/esm\/(?:components\/Tabs\/|core\/utils\/(?:get-safe-id|find-element-ancestor|create-scoped-keydown-handler)\/)|hooks\/esm\/use-force-update\/)/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
              priority: 2,
            },
            { name: 'machine', test: /\/node_modules\/(?:xstate|@xstate|use-sync-external-store)\//, priority: 2 },
            // Alone: every page with a button for copying would ask for the whole file that the button lies in.
            {
              name: 'copy',
              test: /\/ui\/src\/blocks\/(?:copy|code-block)\./,
              includeDependenciesRecursively: false,
              priority: 3,
            },
            { name: 'talk', test: newConversation, priority: 2 },
            { name: 'lib', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 5000, priority: 1 },
          ],
        },
      },
    },
    // react-dom alone has 180; test/ui/shell/size.long.test.ts holds what the first page costs.
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: Object.fromEntries(['/api', '/docs', '/openapi.json', '/livez', '/readyz'].map((path) => [path, server])),
  },
})
