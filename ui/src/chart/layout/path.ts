/** Lines through ELK's points, with round corners and a head. */
import type { Point } from './layout.ts'

const radius = 9

const towards = (from: Point, to: Point, length: number): Point => {
  const distance = Math.hypot(to.x - from.x, to.y - from.y) || 1
  return { x: from.x + ((to.x - from.x) * length) / distance, y: from.y + ((to.y - from.y) * length) / distance }
}
const write = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`

/** Returns an SVG path; it ends `short` pixels early, where the arrow's head begins. */
export function roundedPath(points: readonly Point[], short: number): string {
  const [first] = points
  if (first === undefined) return ''
  let path = `M${write(first)}`
  for (let index = 1; index < points.length; index++) {
    const [before, corner, after] = points.slice(index - 1, index + 2)
    if (before === undefined || corner === undefined) break
    if (after === undefined) {
      path += `L${write(towards(corner, before, Math.max(short - 1, 0)))}`
      break
    }
    const bend = Math.min(radius, ...[before, after].map(({ x, y }) => Math.hypot(x - corner.x, y - corner.y) / 2))
    path += `L${write(towards(corner, before, bend))}Q${write(corner)} ${write(towards(corner, after, bend))}`
  }
  return path
}

/** Returns a triangle at the end of the line, `size` long. */
export function arrowHead(points: readonly Point[], size: number): string {
  const [before, tip] = points.slice(-2)
  if (before === undefined || tip === undefined) return ''
  const back = towards(tip, before, size)
  const side = { x: (back.y - tip.y) * 0.5, y: (tip.x - back.x) * 0.5 }
  return `M${write(tip)}L${write({ x: back.x + side.x, y: back.y + side.y })}L${write({ x: back.x - side.x, y: back.y - side.y })}Z`
}
