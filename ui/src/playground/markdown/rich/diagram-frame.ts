/**
 * Draws Mermaid diagrams in a hidden frame of no origin, which the first one makes: the library needs styles that the
 * pages' own policy forbids, and what it makes of a model's text reaches neither the page nor the network from there.
 */
import libraryUrl from 'mermaid/dist/mermaid.min.js?url'

/** A long limit, because the first diagram loads the library. */
const PATIENCE_MS = 30_000

let opened: Promise<Window> | null = null
let drawn = 0

/** Returns the diagram as an SVG document. Rejects with what is wrong with its source. */
export async function drawDiagram(source: string, isDark: boolean): Promise<string> {
  opened ??= openFrame()
  const frame = await opened
  drawn += 1
  const id = drawn
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onMessage = ({ source: from, data }: MessageEvent) => {
    const { id: of, svg, fault } = Object(data)
    if (from !== frame || of !== id) return
    if (typeof svg === 'string') resolve(svg)
    else reject(new Error(String(fault)))
  }
  const timer = setTimeout(() => reject(new Error('it takes too long')), PATIENCE_MS)
  addEventListener('message', onMessage)
  // It has no origin of its own that could be named.
  frame.postMessage({ id, source, isDark, library: new URL(libraryUrl, location.href).href }, '*')
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    removeEventListener('message', onMessage)
  }
}

function openFrame(): Promise<Window> {
  const element = document.createElement('iframe')
  element.src = '/frames/diagram.html'
  element.title = 'Where diagrams are drawn'
  element.tabIndex = -1
  element.setAttribute('sandbox', 'allow-scripts')
  element.setAttribute('aria-hidden', 'true')
  // Laid out, as texts are measured in it, and out of sight.
  Object.assign(element.style, { position: 'fixed', top: '-2000px', width: '1200px', height: '1000px', border: '0' })
  const { promise, resolve, reject } = Promise.withResolvers<Window>()
  element.addEventListener('load', () => {
    if (element.contentWindow) resolve(element.contentWindow)
    else reject(new Error('its frame could not be opened'))
  })
  document.body.append(element)
  return promise
}
