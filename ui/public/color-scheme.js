// Before the first paint: nobody who chose dark is flashed at, and no navigation folds after it was seen. Mantine keeps the choice under this key.
const chosen = localStorage.getItem('mantine-color-scheme-value')
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
if (localStorage.getItem('side') === 'folded') document.documentElement.dataset.folded = ''
