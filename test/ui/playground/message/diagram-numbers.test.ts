/** Diagrams that the library would draw for ever are not drawn. */
import { expect, test } from 'vitest'
import { countsTooFar } from '../../../../ui/src/playground/markdown/rich/diagram-numbers.ts'

test('numbers up to which the library would count', () => {
  for (const source of [
    'packet-beta\n0-4294967295: "all"',
    'packet\n+99999: "all"',
    'block-beta\n  columns 1\n  space:1000000000',
    '---\ntitle: T\n---\nblock\n  columns 100000\n  a',
    '%%{init: {}}%%\nradar-beta\n  axis a, b\n  ticks 1000000',
  ])
    expect([source, countsTooFar(source)]).toEqual([source, true])
})

test('numbers in texts, colours and other kinds of diagrams', () => {
  for (const source of [
    'packet-beta\n0-15: "Port 100000"\n16-9999: "rest"',
    'block-beta\n  a["12345 users"]\n  style a fill:#123456',
    'flowchart LR\n  A[100000] --> B',
    'pie\n  "packet" : 1000000',
  ])
    expect([source, countsTooFar(source)]).toEqual([source, false])
})
