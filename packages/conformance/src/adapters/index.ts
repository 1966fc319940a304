/** The adapters: those of the suite by their names, others by their files. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Adapter, type Verb, verbs } from '../types.ts'
import { agUi } from './ag-ui.ts'
import { aiSdk } from './ai-sdk.ts'
import { greenroom } from './greenroom.ts'
import { langgraph } from './langgraph.ts'
import { responses } from './responses.ts'

export const builtIn: readonly Adapter[] = [greenroom, responses, aiSdk, agUi, langgraph]

const isVerb = (word: unknown): word is Verb => verbs.some((verb) => verb === word)

/** Returns whether a module is an adapter: everything that it offers is a function of its own. */
function isAdapter(module: unknown): module is Adapter {
  const { name, offers, ...rest }: Record<string, unknown> = Object(module)
  if (typeof name !== 'string' || !Array.isArray(offers) || !offers.every(isVerb)) return false
  return ['createConversation', 'send', ...offers].every((verb) => typeof rest[verb] === 'function')
}

/** Resolves to the adapter of a name or a file. Rejects with one line where there is none. */
export async function findAdapter(named: string): Promise<Adapter> {
  const own = builtIn.find(({ name }) => name === named)
  if (own) return own
  const none = `There is no adapter ${JSON.stringify(named)}: ${builtIn.map(({ name }) => name).join(', ')}, or a file.`
  if (!/[./\\]/.test(named)) throw new Error(none)
  const module: unknown = await import(pathToFileURL(resolve(named)).href).catch((error: unknown) => {
    throw new Error(`${none} (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`)
  })
  if (isAdapter(module)) return module
  throw new Error(`${named} is no adapter: it exports \`name\`, \`offers\` and a function for each verb of \`offers\`.`)
}
