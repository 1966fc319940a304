// Before the first paint: nobody who chose dark is flashed at, and no navigation folds after it was seen. Mantine keeps the choice under this key.
const chosen = localStorage.getItem('mantine-color-scheme-value')
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
// Where nobody has chosen, the playground takes the room for its conversation (src/playground/side/use-side.ts).
const side = localStorage.getItem('side')
const isTight =
  location.pathname.startsWith('/playground') &&
  localStorage.getItem('workbench-side') !== 'closed' &&
  matchMedia('(min-width: 84em) and (max-width: 98em)').matches
if (side === 'folded' || (side === null && isTight)) document.documentElement.dataset.folded = ''
