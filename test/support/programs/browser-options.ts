/** Launch options of Chromium, for tests, screenshots and benches. */
import { systemPart } from './system-parts.ts'

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const browserOptions = () => ({ executablePath: systemPart('chromium-headless-shell'), args })

/**
 * Returns the options for tests. Their pages live for seconds: optimizing the code took a quarter of the processor
 * time, and was rarely of use.
 */
export const testBrowserOptions = () => ({
  ...browserOptions(),
  args: [...args, '--js-flags=--no-opt --no-maglev'],
})
