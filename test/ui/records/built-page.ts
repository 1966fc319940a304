/** A page of the docs as Vite builds it, in development: React's StrictMode mounts everything twice. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build } from 'vite'

/** As Vite's template has it, around the reader's App.jsx. */
const main = `
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import App from './App.jsx'
createRoot(document.getElementById('root')).render(<StrictMode><App /></StrictMode>)`

const client = fileURLToPath(new URL('../../../packages/client/src/index.ts', import.meta.url))

/**
 * Returns the page's script. `folder` holds the modules; the sources are written into it. `other`: modules of another
 * version.
 */
export async function builtPage(folder: string, app: string, other: Record<string, string> = {}): Promise<string> {
  await mkdir(join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'src/main.jsx'), main)
  await writeFile(join(folder, 'src/App.jsx'), app)
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    plugins: [react()],
    resolve: { alias: { '@greenroom/client': client, ...other }, dedupe: ['react', 'react-dom'] },
    // As `npm run dev:ui` has it.
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, lib: { entry: join(folder, 'src/main.jsx'), formats: ['iife'], name: 'page' } },
  })
  const [bundle] = [output].flat()
  const file = bundle && 'output' in bundle ? bundle.output[0] : undefined
  if (file === undefined) throw new Error('vite built nothing')
  return file.code
}
