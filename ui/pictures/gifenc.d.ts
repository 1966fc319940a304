/** What ui/animation.ts uses of gifenc, which brings no types. */
declare module 'gifenc' {
  type Palette = number[][]
  interface FrameOptions {
    /** The first frame's is that of all. */
    palette?: Palette
    /** Milliseconds. */
    delay: number
    transparent?: boolean
    transparentIndex?: number
    dispose?: number
  }
  interface Encoder {
    writeFrame(index: Uint8Array, width: number, height: number, options: FrameOptions): void
    finish(): void
    bytes(): Uint8Array
  }
  const gifenc: {
    GIFEncoder(): Encoder
    quantize(rgba: Uint8Array, maxColors: number): Palette
    applyPalette(rgba: Uint8Array, palette: Palette): Uint8Array
  }
  export default gifenc
}
