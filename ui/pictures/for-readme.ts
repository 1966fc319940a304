/** `npm run shots:readme`: takes the README's picture anew, of those that shots.ts takes. */
import { execFileSync } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'

const docs = new URL('../../docs/pictures/', import.meta.url)
/** By the name of the shot. */
const pictures = { 'playground-tool': 'playground.png' }

const folder = await mkdtemp(join(tmpdir(), 'greenroom-readme-'))
try {
  execFileSync(execPath, [join(import.meta.dirname, 'shots.ts'), folder, Object.keys(pictures).join(), 'light-1440'], {
    stdio: 'inherit',
  })
  for (const [name, file] of Object.entries(pictures)) {
    await copyFile(join(folder, `${name}-light-1440.png`), new URL(file, docs))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
