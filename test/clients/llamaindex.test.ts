import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('llamaindex', await openDriver('llamaindex'))
