/** Greenroom passes level `resume`: `npm start` with its own database (contract section 34). The long tier goes further. */
import { oneInstance, passes } from './passes.ts'

passes('one instance', { level: 'resume', start: oneInstance })
