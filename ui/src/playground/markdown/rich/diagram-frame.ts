/**
 * Draws Mermaid diagrams, one after the other, each in a hidden frame of its own: the library needs styles that the pages'
 * own policy forbids, and what it makes of a model's text reaches neither the page nor the network from there. The frame is
 * removed afterwards, so that a diagram which is never drawn, or changes the library's settings, spoils no other.
 */
import libraryUrl from 'mermaid/dist/mermaid.min.js?url'
import { mayNeverEnd } from './endless-diagrams.ts'

/** The time in which the library must be loaded, and then the diagram be drawn. */
const LOADING_MS = 30_000
const DRAWING_MS = 5000

let turn: Promise<unknown> = Promise.resolve()

/** Returns the diagram as an SVG document. Rejects with what is wrong with its source. */
export function drawDiagram(source: string, isDark: boolean): Promise<string> {
  if (mayNeverEnd(source)) return Promise.reject(new Error('it might never be finished'))
  const drawn = turn.then(() => drawInFrame(source, isDark))
  turn = drawn.catch(() => {})
  return drawn
}

async function drawInFrame(source: string, isDark: boolean): Promise<string> {
  const element = frameElement()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const giveUp = () => reject(new Error('it takes too long'))
  let timer = setTimeout(giveUp, LOADING_MS)
  const onMessage = ({ source: from, data }: MessageEvent) => {
    if (from !== element.contentWindow) return
    const { svg, fault, begun } = Object(data)
    if (begun === true) {
      clearTimeout(timer)
      timer = setTimeout(giveUp, DRAWING_MS)
    } else if (typeof svg === 'string') resolve(svg)
    else reject(new Error(String(fault)))
  }
  element.addEventListener('load', () => {
    // It has no origin of its own that could be named.
    element.contentWindow?.postMessage({ source, isDark, library: new URL(libraryUrl, location.href).href }, '*')
  })
  addEventListener('message', onMessage)
  document.body.append(element)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    removeEventListener('message', onMessage)
    element.remove()
  }
}

function frameElement(): HTMLIFrameElement {
  const element = document.createElement('iframe')
  element.src = '/frames/diagram.html'
  element.title = 'Where diagrams are drawn'
  element.tabIndex = -1
  element.setAttribute('sandbox', 'allow-scripts')
  element.setAttribute('aria-hidden', 'true')
  // Laid out, as texts are measured in it, and out of sight.
  Object.assign(element.style, { position: 'fixed', top: '-2000px', width: '1200px', height: '1000px', border: '0' })
  return element
}
