import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('openai-5', await openDriver('openai', 'openai-5'))
