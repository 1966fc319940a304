/** React's root. Apart from main.tsx: React itself is evaluated a turn before the address is matched (vite.config.ts). */
import { createRoot } from 'react-dom/client'

const element = document.getElementById('root')
if (element === null) throw new Error('index.html has no #root')

export const root = createRoot(element)
