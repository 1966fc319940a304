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

/** Names of what keeps room in a style sheet, and in the properties of a component. */
const spacesOf = {
  '.css': /(?<![-\w])(?:(?:padding|margin)[-a-z]*|(?:row-|column-)?gap): [^;]+(?=;)/g,
  '.tsx': /\b(?:gap=|[mp][tblrxyse]?=|padding\w*(?:=|: ))(?:\{?\d+\}?|"[^"]*")/g,
}

test('every padding, margin and gap is of the scale of spaces, or goes with the letters or the window', async () => {
  const names = (await readdir(root, { recursive: true })).filter((name) => /\.(?:css|tsx)$/.test(name))
  const given = names.map(async (name) => {
    const spaces = spacesOf[name.endsWith('.css') ? '.css' : '.tsx']
    return ((await readFile(new URL(name, root), 'utf8')).match(spaces) ?? []).map((space) => `${name}: ${space}`)
  })
  const spaces = (await Promise.all(given)).flat()
  expect(spaces.length).toBeGreaterThan(700)
  const scale = /^(?:0|1|2|4|8|12|16|24|32)(?:px)?$/
  // `em`, `vw`, `vh` and `%` are relative; a width that others need too, as of a column, is a property with a name.
  const isOff = (space: string) =>
    space
      .match(/(?<![-\w.])-?[\d.]+(?:px|rem)|(?<=[={ ])\d+(?=\}|$)/g)
      ?.some((size) => !scale.test(size.replace('-', '')))
  expect(spaces.filter(isOff)).toEqual([])
})

test('no style sheet composes classes of another', async () => {
  // It copies the other one's classes into this one, and makes Vite warn at `npm ci`: their place in a file is not known.
  expect((await ownSheets()).filter(({ css }) => /\bcomposes:[^;]*\bfrom\b/.test(css)).map(({ name }) => name)).toEqual(
    [],
  )
})
