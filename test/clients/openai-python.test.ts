import { test } from 'vitest'
import { chatSuite } from './chat-suite.ts'
import { openPythonDriver } from './matrix.ts'

const driver = await openPythonDriver()
if (driver === null) test.skip('the Python client could not be installed here: its column stays as it was', () => {})
else chatSuite('openai-python', driver)
