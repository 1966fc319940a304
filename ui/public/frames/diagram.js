// Draws one Mermaid diagram for the page around it. It has no origin, and its policy lets it reach nothing but this server's scripts.
const load = (library) =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = library
    script.onload = resolve
    script.onerror = () => reject(new Error('the library could not be loaded'))
    document.head.append(script)
  })

/** A document that stands alone: with a size, and without what another place would have to bring. */
function standalone(text) {
  const { documentElement: svg } = new DOMParser().parseFromString(text, 'image/svg+xml')
  const [, , width, height] = (svg.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (svg.nodeName !== 'svg' || !(width > 0 && height > 0)) throw new Error('its drawing is empty')
  svg.removeAttribute('style')
  svg.setAttribute('width', String(Math.ceil(width)))
  svg.setAttribute('height', String(Math.ceil(height)))
  return new XMLSerializer().serializeToString(svg)
}

addEventListener('message', async ({ data: { source, isDark, library } }) => {
  try {
    await load(library)
    parent.postMessage({ begun: true }, '*')
    const { mermaid } = globalThis
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      // A picture shows no foreign elements everywhere.
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      fontFamily: 'system-ui, sans-serif',
      theme: isDark ? 'dark' : 'default',
    })
    const { svg } = await mermaid.render('diagram', source)
    parent.postMessage({ svg: standalone(svg) }, '*')
  } catch (error) {
    parent.postMessage({ fault: error instanceof Error ? error.message : String(error) }, '*')
  }
})
