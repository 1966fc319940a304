import { test } from 'vitest'
import { openPythonDriver } from '../matrix.ts'
import { chatSuite } from './chat-suite.ts'

const driver = await openPythonDriver()
if (driver === null) test.skip('the Python client could not be installed here: its column stays as it was', () => {})
else chatSuite('openai-python', driver)
