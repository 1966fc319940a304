/** Greenroom passes level `durable`: `npm start` with its own database, killed with `kill -9` (contract section 34). */
import { oneInstance, passes } from './passes.ts'

passes('one instance', { level: 'durable', start: oneInstance })
