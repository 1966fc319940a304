import { readFileSync } from 'node:fs'

/** Exact version of an installed package. */
export const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version

/** Runs it on what will be told; what it throws is told too. */
export async function told(run) {
  const result = { text: '', finish: null, usage: null, toolCalls: 0, error: null }
  try {
    await run(result)
  } catch (error) {
    result.error = errorOf(error)
  }
  return result
}

/** The class's name is what a user catches; some set `name` to something else or leave it at Error. */
export function errorOf(error) {
  return {
    name: error?.constructor?.name === 'Error' ? error.name : (error?.constructor?.name ?? String(error)),
    status: error?.status ?? error?.statusCode ?? error?.lastError?.statusCode ?? null,
    message: String(error?.message ?? error),
    body: error?.responseBody ?? error?.lastError?.responseBody ?? null,
  }
}
