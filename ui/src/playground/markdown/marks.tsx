/** Marks at places of a text: within a paragraph exactly there, elsewhere below the block that the place lies in. */
import { Fragment, type ReactNode } from 'react'
import { plainText } from './entities.ts'

export interface Mark {
  /** Characters (UTF-16 units) of the text before it. */
  at: number
  key: string
  node: ReactNode
}

/** Returns the marks within `(from, to]`, with places counted from `from`. Undefined when there are none. */
export function marksWithin(marks: readonly Mark[], from: number, to: number): readonly Mark[] | undefined {
  const inside = marks.filter(({ at }) => at > from && at <= to)
  return inside.length === 0 ? undefined : inside.map((mark) => ({ ...mark, at: mark.at - from }))
}

export const nodesOf = (marks: readonly Mark[]): ReactNode[] =>
  marks.map(({ key, node }) => <Fragment key={key}>{node}</Fragment>)

/** Returns a run of text, with the marks that lie in it. */
export function markedText(text: string, marks: readonly Mark[]): ReactNode[] {
  const ends = [...marks.map(({ at }) => at), text.length]
  return ends.map((end, index) => (
    <Fragment key={marks[index]?.key ?? 'rest'}>
      {plainText(text.slice(index === 0 ? 0 : ends[index - 1], end))}
      {marks[index]?.node}
    </Fragment>
  ))
}
