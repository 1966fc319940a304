import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('openai-5', await openDriver('openai', 'openai-5'))
