import { openDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

chatSuite('langchain', await openDriver('langchain'))
