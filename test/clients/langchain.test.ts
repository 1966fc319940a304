import { chatSuite } from './chat-suite.ts'
import { openDriver } from './matrix.ts'

chatSuite('langchain', await openDriver('langchain'))
