// What Swagger UI leaves out: our frame around it, the colours that were chosen in the pages, and names for screen readers.

/** The pages keep the choice under this key (ui/public/color-scheme.js). */
const system = matchMedia('(prefers-color-scheme: dark)')
const paint = () => {
  const chosen = localStorage.getItem('mantine-color-scheme-value')
  const dark = chosen === 'dark' || (chosen !== 'light' && system.matches)
  document.documentElement.classList.toggle('dark-mode', dark)
}
paint()
system.addEventListener('change', paint)

const header = document.createElement('header')
header.className = 'greenroom'
header.innerHTML =
  '<a href="/"><b>Greenroom</b></a><span>API reference</span><a href="/openapi.json" download>openapi.json</a>'
document.body.prepend(header)

const root = document.getElementById('swagger-ui')

const named = [
  // The name of the document is the page's heading, the tags follow it.
  ['.info .title', { role: 'heading', 'aria-level': '1' }],
  ['.information-container', { role: 'region', 'aria-label': 'About' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Credentials' }],
  ['section.models h4', { role: 'heading', 'aria-level': '2' }],
  ['h3.opblock-tag', { role: 'heading', 'aria-level': '2' }],
  ['.opblock-section-header h4, .responses-inner h4, .responses-inner h5', { role: 'heading', 'aria-level': '3' }],
  ['.parameters input:not([aria-label]), .parameters textarea:not([aria-label])', { 'aria-label': 'Value' }],
  ['select:not([aria-label])', { 'aria-label': 'Choice' }],
  ['textarea:not([aria-label])', { 'aria-label': 'Body' }],
  ['.opblock-body pre', { tabindex: '0' }],
]
const nameAll = () => {
  // The whole line is a button: the link in it only repeats that.
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) link.removeAttribute('href')
  for (const table of document.querySelectorAll('table[role=region]')) table.setAttribute('aria-label', table.id)
  for (const [selector, attributes] of named) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value)
      }
    }
  }
}
nameAll()
if (root) new MutationObserver(nameAll).observe(root, { childList: true, subtree: true })
