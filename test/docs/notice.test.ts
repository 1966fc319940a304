/** The licences of the bundled packages require that their texts come along: the build writes NOTICE.txt (ui/notice.ts). */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { noticeOf, packageOf } from '../../ui/notice.ts'

const root = new URL('../../', import.meta.url)
const notice = await readFile(new URL('ui/dist/NOTICE.txt', root), 'utf8')

async function importedPackages(): Promise<string[]> {
  const names = (await readdir(new URL('ui/src/', root), { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const texts = await Promise.all(names.map((name) => readFile(new URL(`ui/src/${name}`, root), 'utf8')))
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/^(?:import(?! type)[^'\n]*|\} from )'((?:@[\w-]+\/)?[a-z][\w.-]*)[\w./-]*'$/gm)].map(
      ([, name]) => name,
    ),
  )
  // openai only appears in an example on the pages.
  return [...new Set(imported)].filter((name): name is string => name !== undefined && name !== 'openai').sort()
}

/** In the order of the lines; others that share them may stand beside. */
const namesIn = (text: string): string[] =>
  text.split(/^─+$/m).flatMap((entry) => entry.trim().split('\n', 1)[0]?.split(', ') ?? [])

const packages = await importedPackages()

test('what the pages import is in it, and what that brings along', () => {
  expect(packages.length).toBeGreaterThan(15)
  expect(packages).toContain('@fontsource-variable/inter')
  const named = namesIn(notice)
  expect(
    [...packages, 'd3-zoom', '@floating-ui/dom', 'recharts', 'scheduler'].filter((name) => !named.includes(name)),
  ).toEqual([])
})

test.each(packages)('the licence of %s', async (name) => {
  const folder = new URL(`node_modules/${name}/`, root)
  const file = (await readdir(folder)).find((one) => /^licen[sc]e/i.test(one)) ?? ''
  expect(notice).toContain((await readFile(new URL(file, folder), 'utf8')).trim())
})

test('a module is its innermost package’s, or ours', () => {
  expect(packageOf('/a/node_modules/x/node_modules/@s/y/lib/z.js?used')).toEqual({
    folder: '/a/node_modules/x/node_modules/@s/y',
    name: '@s/y',
  })
  expect(packageOf('/a/ui/src/main.tsx')).toBeNull()
  expect(noticeOf(['/a/ui/src/main.tsx', '\0vite/preload-helper.js'])).not.toContain('─')
})
