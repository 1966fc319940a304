import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('ai-sdk', await openDriver('ai-sdk'))
