/**
 * The steps of OpenAI's public documentation for the Responses, Conversations and Files APIs, through its official client:
 * `node steps.js BASE_URL KEY MODEL`, against a server whose MODEL is an agent with the model of model.js. Prints one line of JSON for
 * each step: {step, outcome: "works" | "refused" | "fails", words}. steps.py takes the same steps without a client.
 */
import { steps } from './kit.js'
import './answers.js'
import './state.js'
import './tools.js'

for (const { name, run, words = '' } of steps) {
  let told = { outcome: words === '' ? 'works' : 'fails', words: words === '' ? '' : 'was taken' }
  try {
    await run()
  } catch (error) {
    const isRefusal = words !== '' && (error.status === 400 || error.status === 409)
    told = {
      outcome: isRefusal ? 'refused' : 'fails',
      words: isRefusal ? words : `${error.status ?? ''} ${error.message}`,
    }
  }
  console.log(JSON.stringify({ step: name, ...told }))
}
