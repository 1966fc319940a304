/** Diagrams that the library would draw for ever are not drawn. */
import { expect, test } from 'vitest'
import { mayNeverEnd } from '../../../../ui/src/playground/markdown/rich/endless-diagrams.ts'

const nested = (depth: number) => `block-beta\n${'  block\n'.repeat(depth)}  a\n${'  end\n'.repeat(depth)}`

test('numbers up to which the library would count', () => {
  for (const source of [
    'packet-beta\n0-4294967295: "all"',
    'packet\n+99999: "all"',
    '%%{init: {"packet": {"bitsPerRow": 0}}}%%\npacket-beta\n0-15: "x"',
    '---\nconfig:\n  packet:\n    bitsPerRow: -1\n---\npacket-beta\n0-15: "x"',
    'block-beta\n  columns 1\n  space:1000000000',
    'block-beta\n  space:9999\n  a',
    nested(20),
    '---\ntitle: T\n---\nblock\n  columns 100000\n  a',
    '%%{init: {}}%%\nradar-beta\n  axis a, b\n  ticks 1000000',
    'gantt\n  dateFormat YYYY-MM-DD\n  excludes 2024-01-01\n  a :a1, 2024-01-01, 9999y',
  ])
    expect([source, mayNeverEnd(source)]).toEqual([source, true])
})

test('states within themselves', () => {
  for (const source of [
    'stateDiagram-v2\n  state a {\n    a --> b\n  }',
    'stateDiagram-v2\n  [*] --> a\n  state "Long name" as a {\n    [*] --> a: again\n  }',
    'stateDiagram\n  state a {\n    state b {\n      c --> a\n    }\n  }',
    'stateDiagram-v2\n  state a {\n    b\n  }\n  state b {\n    a --> c\n  }',
  ])
    expect([source, mayNeverEnd(source)]).toEqual([source, true])
})

test('numbers in texts, colours and other kinds of diagrams; states in their places', () => {
  for (const source of [
    'packet-beta\n0-15: "Port 100000"\n16-9999: "rest"',
    'block-beta\n  a["12345 users"]\n  style a fill:#123456',
    nested(4),
    'flowchart LR\n  A[100000] --> B',
    'pie\n  "packet" : 1000000',
    'gantt\n  dateFormat YYYY-MM-DD\n  excludes weekends\n  a :a1, 2024-01-01, 30d',
    'stateDiagram-v2\n  a --> b\n  b --> a\n  state b {\n    [*] --> c\n    c --> d\n  }\n  state d {\n    e --> f\n  }',
  ])
    expect([source, mayNeverEnd(source)]).toEqual([source, false])
})
