/** The chart as a picture file, to be pasted into documents: without what is going on, in light colours. Pure. */
import type { Layout } from '../layout/layout.ts'
import { arrowHead, roundedPath } from '../layout/path.ts'
import { shortName, type Tone, toneOf } from '../machine.ts'

const colours: Record<Tone, string> = {
  idle: '#5f6862',
  busy: '#1d58b8',
  compact: '#0b6570',
  settle: '#6a3abf',
  waiting: '#a3286f',
  good: '#0e7547',
  bad: '#b82222',
  stopped: '#8a4d07',
  gone: '#2b2f33',
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const HEAD = 8.35

export function chartSvg({ width, height, states, transitions, start }: Layout): string {
  const lines = [start.points, ...transitions.map(({ points }) => points)].map(
    (points) =>
      `<path d="${roundedPath(points, HEAD)}" fill="none" stroke="#929b95" stroke-width="1.5"/><path d="${arrowHead(points, HEAD)}" fill="#929b95"/>`,
  )
  const labels = transitions.map(({ transition: { event }, label }) => {
    const { x, y, width, height } = label
    return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${height / 2}" fill="#fff" stroke="#dfe3e0"/><text x="${x + width / 2}" y="${y + height / 2}" dominant-baseline="central" text-anchor="middle" font-size="13.2" fill="#49514c">${escaped(event)}</text>`
  })
  const compounds = states.filter(({ compound }) => compound)
  const boxes = [...compounds, ...states.filter(({ compound }) => !compound)].map(({ state, box, compound }) => {
    const { x, y, width, height } = box
    const at = compound
      ? `x="${x + 34}" y="${y + 22}"`
      : `x="${x + width / 2 + 8}" y="${y + height / 2}" text-anchor="middle"`
    const dotX = compound ? x + 20 : x + 16
    const dotY = compound ? y + 22 : y + height / 2
    return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="12" fill="${compound ? 'none' : '#fff'}" stroke="#c9cfcb" stroke-width="1.5"${compound ? ' stroke-dasharray="5 4"' : ''}/><circle cx="${dotX}" cy="${dotY}" r="4" fill="${colours[toneOf(state.id)]}"/><text ${at} dominant-baseline="central" font-size="14" font-weight="600" fill="#1a1f1c">${escaped(shortName(state.id))}</text>`
  })
  const { box } = start
  const dot = `<circle cx="${box.x + box.width / 2}" cy="${box.y + box.height / 2}" r="7" fill="#49514c"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Inter, system-ui, sans-serif">${[...lines, ...boxes, dot, ...labels].join('')}</svg>`
}
