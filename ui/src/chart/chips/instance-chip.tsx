import { Tooltip } from '@mantine/core'
import { shortId } from '../../sessions/words.ts'
import classes from '../chart-page.module.css'

const colours = 8

const colourOf = (id: string): number =>
  [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7) % colours

/** An instance by the beginning of its id, in a colour of its own. */
export function InstanceChip({ id }: { id: string }) {
  return (
    <Tooltip label={`Server ${id}`}>
      <span className={classes.instance} data-colour={colourOf(id)}>
        <i aria-hidden />
        {shortId(id)}
      </span>
    </Tooltip>
  )
}
