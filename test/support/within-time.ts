/** Loaded before each file of a run whose time is limited (time-left.ts). */
import { beforeEach } from 'vitest'
import { isOver } from './time-left.ts'

beforeEach(({ skip }) => skip(isOver(), 'No time was left.'))
