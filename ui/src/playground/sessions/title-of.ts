import { plainTitle } from '../../sessions/words.ts'
import type { Session } from '../queries.ts'

export const titleOf = ({ title }: Pick<Session, 'title'>): string =>
  title === null ? 'New session' : plainTitle(title)
