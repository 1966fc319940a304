import classes from '../blocks.module.css'
import { usePageKeys } from './page-keys.ts'

/** Moves the focus by J and K among the links of the rows: Enter opens what has it. */
export function useRowLinkKeys(): void {
  const move = (by: 1 | -1) => {
    const links = [...document.querySelectorAll<HTMLElement>(`main .${classes.rowLink}`)]
    const at = links.findIndex((link) => link.matches(':focus'))
    links[Math.max(0, at + by)]?.focus()
  }
  usePageKeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ])
}
