/** The licences of the bundled packages require their copyright lines: ui/public/NOTICE.txt has them. */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const notice = await readFile(new URL('ui/public/NOTICE.txt', root), 'utf8')

async function bundledPackages(): Promise<string[]> {
  const names = (await readdir(new URL('ui/src/', root), { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const texts = await Promise.all(names.map((name) => readFile(new URL(`ui/src/${name}`, root), 'utf8')))
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/from '((?:@[\w-]+\/)?[a-z][\w.-]*)/g)].map(([, name]) => name),
  )
  // openai only appears in an example on the pages.
  return [...new Set(imported)].filter((name): name is string => name !== undefined && name !== 'openai').sort()
}

async function copyrightLines(name: string): Promise<string[]> {
  const folder = new URL(`node_modules/${name}/`, root)
  const file = (await readdir(folder)).find((one) => /^licen[sc]e(?:\.\w+)?$/i.test(one))
  const text = file === undefined ? '' : await readFile(new URL(file, folder), 'utf8')
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?:copyright|\(c\)) .*\d{4}|^copyright \(c\) (?!.*\[yyyy\])/i.test(line))
}

const packages = await bundledPackages()

test('the pages bundle packages', () => expect(packages.length).toBeGreaterThan(8))

test.each(packages)('%s', async (name) => {
  for (const line of await copyrightLines(name)) expect(notice).toContain(line)
})
