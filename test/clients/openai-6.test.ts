import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('openai-6', await openDriver('openai', 'openai-6'))
