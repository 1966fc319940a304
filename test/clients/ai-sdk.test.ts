import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('ai-sdk', await openDriver('ai-sdk'))
