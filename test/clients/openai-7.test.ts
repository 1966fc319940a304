import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('openai-7', await openDriver('openai', 'openai'))
