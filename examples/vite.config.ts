import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const key = process.env.PUBLIC_API_KEY

export default defineConfig({
  root: import.meta.dirname,
  cacheDir: fileURLToPath(new URL('../node_modules/.cache/examples', import.meta.url)),
  plugins: [react()],
  resolve: {
    alias: { '@greenroom/client': fileURLToPath(new URL('../packages/client/src/index.ts', import.meta.url)) },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': {
        target: process.env.GREENROOM_URL ?? 'http://127.0.0.1:8080',
        // Left alone, the proxy keeps a page's stream open when the server's has broken off.
        configure: (proxy) =>
          void proxy.on('proxyRes', (answer, _, response) =>
            answer.on('close', () => answer.complete || response.destroy()),
          ),
        ...(key && { headers: { authorization: `Bearer ${key}` } }),
      },
    },
  },
})
