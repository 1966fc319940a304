/** ui/src/mantine.css names the styles of the components that the pages use: none of theirs may lack. */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const assets = new URL('../../../ui/dist/assets/', import.meta.url)

async function textOf(ending: string): Promise<string> {
  const names = (await readdir(assets)).filter((name) => name.endsWith(ending))
  return (await Promise.all(names.map((name) => readFile(new URL(name, assets), 'utf8')))).join('\n')
}

test('every component in the pages’ scripts has its styles', async () => {
  const all = await readFile(new URL(import.meta.resolve('@mantine/core/styles.css')), 'utf8')
  const classesOf = (text: string) => new Set(text.match(/\bm_[\da-f]{6,8}\b/g))
  const [used, styled, known] = [classesOf(await textOf('.js')), classesOf(await textOf('.css')), classesOf(all)]
  expect(used.size).toBeGreaterThan(100)
  expect([...used].filter((name) => known.has(name) && !styled.has(name))).toEqual([])
})

const root = new URL('../../../ui/src/', import.meta.url)

async function ownSheets(): Promise<{ name: string; css: string }[]> {
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.css'))
  return Promise.all(names.map(async (name) => ({ name, css: await readFile(new URL(name, root), 'utf8') })))
}

test('every outline has the colour of the focus', async () => {
  const outlines = (await ownSheets()).flatMap(({ name, css }) =>
    [...css.matchAll(/\boutline: ([^;]+);/g)].map(([, value]) => `${name}: ${value}`),
  )
  expect(outlines.length).toBeGreaterThan(5)
  expect(outlines.filter((outline) => !/none$|var\(--focus\)/.test(outline))).toEqual([])
})

test('every gap is of the scale of spaces', async () => {
  const sheets = (await ownSheets()).map(({ name, css }) => ({ name, gaps: css.match(/\bgap: [^;]+(?=;)/g) ?? [] }))
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.tsx'))
  const given = names.map(async (name) => {
    const text = await readFile(new URL(name, root), 'utf8')
    return { name, gaps: text.match(/\b(?:gap|m[tby]?)=(?:\{\d+\}|"[^"]*")/g) ?? [] }
  })
  const gaps = [...sheets, ...(await Promise.all(given))].flatMap(({ name, gaps }) =>
    gaps.map((gap) => `${name}: ${gap}`),
  )
  expect(gaps.length).toBeGreaterThan(300)
  const scale = ['0', '1', '2', '4', '8', '12', '16', '24', '32']
  expect(gaps.filter((gap) => gap.match(/(?<=[ "{])\d+(?=px|\})/g)?.some((size) => !scale.includes(size)))).toEqual([])
})

test('no style sheet composes classes of another', async () => {
  // It copies the other one's classes into this one, and makes Vite warn at `npm ci`: their place in a file is not known.
  expect((await ownSheets()).filter(({ css }) => /\bcomposes:[^;]*\bfrom\b/.test(css)).map(({ name }) => name)).toEqual(
    [],
  )
})
