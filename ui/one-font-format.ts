/** KaTeX's style sheet names each of its fonts in three formats; every browser that the pages are for reads the smallest. */
import type { Plugin } from 'vite'

export const oneFontFormat = (): Plugin => ({
  name: 'one-font-format',
  enforce: 'pre',
  transform: {
    filter: { id: /katex\.min\.css$/ },
    handler: (css) => css.replaceAll(/,url\([^)]+\.(?:woff|ttf)\) format\("\w+"\)/g, ''),
  },
})
