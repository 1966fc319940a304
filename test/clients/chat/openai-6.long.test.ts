import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('openai-6', await openDriver('openai', 'openai-6'))
