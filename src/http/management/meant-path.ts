/** The words for a client of the deploy API whose base URL leads elsewhere: an SDK shows `error.message` alone. */

/** The first steps of paths that exist below `…/deploy` and `/api/v1/openai`, and nowhere else with these names. */
const served =
  'chat/completions|responses|conversations|models|sessions|files|ai-sdk|ag-ui|mcp|client_secrets|users|embeddings'
const misplaced = new RegExp(`^(?:/api)?(?:/v1)?(?:/agents/([^/]{1,200}))?(?:/v1)?/((?:${served})(?:/.{0,200})?)$`)

/** Returns a sentence that names the path that was meant. Null where the path is none of the deploy API's. */
export function meantPath(url: string): string | null {
  const [path = ''] = url.split(/[?#]/, 1)
  const [, agent, rest] = misplaced.exec(path) ?? []
  if (rest === undefined) return null
  if (agent !== undefined) return `Did you mean /api/v1/agents/${agent}/deploy/${rest}?`
  return (
    `An agent answers at /api/v1/agents/<agent id>/deploy/${rest}; ` +
    'for a list of models the base URL is /api/v1/openai, where an agent is a model.'
  )
}

/** Returns the body of a refusal on a path that no operation has: also in the form that clients of the deploy API show. */
export function bodyWithMeantPath(url: string, message: string, code: string): object {
  const meant = meantPath(url)
  if (meant === null) return { message }
  const whole = `${message} ${meant}`
  return { message: whole, error: { message: whole, type: 'invalid_request_error', code, param: null } }
}
