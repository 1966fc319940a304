import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('openai-7', await openDriver('openai', 'openai'))
