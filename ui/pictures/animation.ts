/** Screenshots to an animated GIF: one palette for all of them, and of each frame only the pixels that differ. */
import { inflateSync } from 'node:zlib'
import gifenc from 'gifenc'

export interface Shot {
  /** The format in which Chromium captures it. */
  png: Buffer
  /** When, in milliseconds. */
  at: number
}

/** The first colour after those of the pictures: "as it was". */
const UNCHANGED = 255
/** How many shots the palette is made of. */
const SAMPLES = 12

/** The last shot stays for `restMs` before it begins anew. */
export function animationOf(shots: readonly Shot[], restMs: number): Uint8Array {
  const frames = shots.map(({ png, at }) => ({ ...pixelsOf(png), at }))
  const step = Math.ceil(frames.length / SAMPLES)
  const samples = frames.filter((_, number) => number % step === 0).map(({ rgba }) => rgba)
  const palette = gifenc.quantize(Buffer.concat(samples), UNCHANGED)
  const gif = gifenc.GIFEncoder()
  const drawn = frames.map(({ rgba, ...frame }) => ({ ...frame, index: gifenc.applyPalette(rgba, palette) }))
  const seen = drawn.filter(({ index }, number) => !drawn[number - 1] || !equal(index, drawn[number - 1]?.index))
  for (const [number, { index, width, height, at }] of seen.entries()) {
    const before = seen[number - 1]?.index
    const next = seen[number + 1]?.at ?? (drawn.at(-1)?.at ?? at) + restMs
    const changed =
      before === undefined ? index : index.map((colour, at) => (before[at] === colour ? UNCHANGED : colour))
    gif.writeFrame(changed, width, height, {
      ...(before === undefined && { palette: [...palette, ...rest(palette)] }),
      delay: next - at,
      transparent: true,
      transparentIndex: UNCHANGED,
      dispose: 1,
    })
  }
  gif.finish()
  return gif.bytes()
}

const equal = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  other !== undefined && Buffer.compare(one, other) === 0

/** Unused colours up to the table's 256. */
const rest = (palette: readonly number[][]) => Array.from({ length: UNCHANGED + 1 - palette.length }, () => [0, 0, 0])

const HEADER = 8

/** Decodes a PNG with 8 bits a channel and no interlacing (the standard's chapters 5 and 9). */
function pixelsOf(png: Buffer): { width: number; height: number; rgba: Uint8Array } {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = HEADER; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data })
  }
  const head = chunks[0]?.data ?? Buffer.alloc(0)
  const [width, height, channels] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3]
  const lines = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)))
  const rgba = new Uint8Array(width * height * 4).fill(255)
  let above = new Uint8Array(width * channels)
  for (let y = 0; y < height; y++) {
    const begin = y * (width * channels + 1)
    const line = unfiltered(lines.subarray(begin, begin + width * channels + 1), above, channels)
    for (let x = 0; x < width; x++) rgba.set(line.subarray(x * channels, x * channels + 3), (y * width + x) * 4)
    above = line
  }
  return { width, height, rgba }
}

/** `filtered`: the filter's number, then the line. */
function unfiltered(filtered: Uint8Array, above: Uint8Array, channels: number): Uint8Array<ArrayBuffer> {
  const line = new Uint8Array(above.length)
  for (let at = 0; at < line.length; at++) {
    const left = line[at - channels] ?? 0
    const up = above[at] ?? 0
    const upLeft = at < channels ? 0 : (above[at - channels] ?? 0)
    const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)][filtered[0] ?? 0] ?? 0
    line[at] = (filtered[at + 1] ?? 0) + predicted
  }
  return line
}

function paeth(left: number, up: number, upLeft: number): number {
  const guess = left + up - upLeft
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - upLeft)]
  return a <= b && a <= c ? left : b <= c ? up : upLeft
}
