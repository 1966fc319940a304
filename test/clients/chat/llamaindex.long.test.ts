import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('llamaindex', await openDriver('llamaindex'))
