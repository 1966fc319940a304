/**
 * A detour: a state within another that is entered from outside too, as `streaming.compacting` is. In the wide chart ELK
 * would make it a column of its own, and the whole too wide to be read. It is put below the state that it is a detour of.
 */
import type { ChartTransition, SessionChart } from '../../src/features/traces/chart.ts'

interface Point {
  x: number
  y: number
}
export interface Box extends Point {
  width: number
  height: number
}
export interface DrawnEdge {
  points: Point[]
  label: Box
}

const HEIGHT = 96
const ABOVE = 58
/** The height that the surrounding state needs below its other states. */
export const DETOUR_ROOM = HEIGHT + ABOVE
/** Between lines side by side. */
const APART = 29

/** Returns the id of the detour. Undefined where the machine has none. */
export function detourOf({ states, transitions }: SessionChart): string | undefined {
  const parentOf = (id: string) => states.find((state) => state.id === id)?.parent ?? null
  return transitions.find(({ source, target }) => parentOf(target) !== null && parentOf(source) === null)?.target
}

export const touches = (detour: string | undefined, { source, target }: ChartTransition): boolean =>
  source === detour || target === detour

interface Frame {
  boxes: Record<string, Box>
  /** The state that it is a detour of. */
  of: string
  /** x of the rail that leads back, and y below everything. */
  rail: number
  far: number
  sizeOf: (event: string) => { width: number; height: number }
  /** y where a transition's line meets the state at the right. */
  doorOf: (id: string, state: string) => number
}

/** Returns the detour's box and its transitions. */
export function drawDetour(
  chart: SessionChart,
  id: string,
  frame: Frame,
): { box: Box; edges: Record<string, DrawnEdge> } {
  const { boxes, of, rail, far, sizeOf, doorOf } = frame
  const beside = boxes[of] ?? { x: 0, y: 0, width: 0, height: 0 }
  const box = { x: beside.x, y: beside.y + beside.height + ABOVE, width: beside.width, height: HEIGHT }
  const edges: Record<string, DrawnEdge> = {}
  const draw = (transition: ChartTransition, points: Point[], at: Point) => {
    const size = sizeOf(transition.event)
    edges[transition.id] = { points, label: { x: at.x - size.width / 2, y: at.y - size.height / 2, ...size } }
  }
  const own = chart.transitions.filter((one) => touches(id, one))
  const inward = own.filter(({ target }) => target === id)
  const bottom = box.y + box.height
  const onward = new Set(
    own.filter(({ source, target }) => source === id && target !== of && target.includes('.')).map(({ id }) => id),
  )
  for (const transition of own) {
    const isInward = inward.includes(transition)
    const other = boxes[isInward ? transition.source : transition.target]
    if (other === undefined) continue
    const size = sizeOf(transition.event)
    if (other === beside) {
      const x = box.x + box.width * (isInward ? 0.25 : 0.75)
      const ends = [
        { x, y: beside.y + beside.height },
        { x, y: box.y },
      ]
      draw(transition, isInward ? ends : ends.toReversed(), { x, y: box.y - ABOVE / 2 })
    } else if (onward.has(transition.id)) {
      const place = [...onward].indexOf(transition.id) - (onward.size - 1) / 2
      const y = box.y + HEIGHT / 2 + place * APART
      const x = other.x + other.width / 2 + place * 12
      const right = box.x + box.width
      draw(
        transition,
        [
          { x: right, y },
          { x, y },
          { x, y: other.y + other.height },
        ],
        { x: right + 14 + size.width / 2, y },
      )
    } else {
      const isLeft = other.x < box.x
      const line = far + (isInward ? 0 : 18)
      const door = box.x + box.width * (isInward ? 0.25 : 0.5)
      // A state at the left has its doors at the bottom, those at the right beside their way to the rail.
      // Those lie so far apart that the words of neither are on the other's line.
      const x = other.x + other.width * (isInward ? 0.2 : 0.8)
      const y = doorOf(transition.id, isInward ? transition.source : transition.target)
      const way = isLeft
        ? [
            { x, y: other.y + other.height },
            { x, y: line },
          ]
        : [
            { x: other.x + other.width, y },
            { x: rail + (isInward ? 0 : 16), y },
            { x: rail + (isInward ? 0 : 16), y: line },
          ]
      const points = [...way, { x: door, y: line }, { x: door, y: bottom }]
      const at = isLeft
        ? { x, y: other.y + other.height + 40 + (isInward ? 0 : APART + 6) }
        : { x: other.x + other.width + 11 + size.width / 2, y }
      draw(transition, isInward ? points : points.toReversed(), at)
    }
  }
  return { box, edges }
}
