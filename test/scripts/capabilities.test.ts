import { expect, test } from 'vitest'
import { capabilitiesIn, tooFull, tooLong } from '../../scripts/capabilities.ts'

const importing = (...names: string[]) =>
  names.map((name) => `import { a } from '../features/${name}/index.ts'\n`).join('')

test('a file speaks of each capability once that it imports, by a type too, and of its own', () => {
  expect(capabilitiesIn('src/http/a.ts', importing('queue', 'queue'))).toEqual(['queue'])
  const inside =
    "import type { B } from '../parts/index.ts'\nexport * from './store/c.ts'\nimport d from '../../http/d.ts'\n"
  expect(capabilitiesIn('src/features/limits/a.ts', inside)).toEqual(['limits', 'parts'])
})

test('a file that speaks of seven capabilities is found, a file that speaks of six is not', () => {
  const six = ['audit', 'keys', 'limits', 'parts', 'queue', 'users']
  const files = new Map([
    ['src/http/six.ts', importing(...six)],
    ['src/http/seven.ts', importing(...six, 'branches')],
  ])
  expect(tooFull(files)).toEqual([
    'src/http/seven.ts: 7 capabilities (audit, branches, keys, limits, parts, queue, users)',
  ])
})

test('a file of 301 lines is found, a file of 300 is not, and a comment at its beginning counts', () => {
  const lines = (count: number) => `// A header.\n${'x\n'.repeat(count - 1)}`
  const files = new Map([
    ['src/http/long.ts', lines(301)],
    ['src/http/full.ts', lines(300)],
  ])
  expect(tooLong(files)).toEqual(['src/http/long.ts: 301 lines, of at most 300'])
})
