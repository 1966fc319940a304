/**
 * Writes docs/scopes.md, what keys of each scope and people of each role may do, from the contract; `--check` fails if
 * it differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { tags } from '../../openapi/contract.ts'
import type { Operation } from '../../openapi/operation.ts'

const path = fileURLToPath(new URL('../../docs/scopes.md', import.meta.url))

const operations = tags
  .flatMap((tag) => Object.values<Operation>(tag.operations))
  .filter(({ scope }) => scope !== 'health')

const isManaged = ({ scope, open, loginAlone, keyScope }: Operation): boolean =>
  scope !== 'deploy' && open !== true && loginAlone !== true && keyScope === undefined

/** Returns the routes of operations, one line for each path, with its methods. */
function routes(some: readonly Operation[]): string {
  const methods = Map.groupBy(some, (one) => one.path)
  return [...methods]
    .map(([route, those]) => `- ${those.map(({ method }) => method.toUpperCase()).join(', ')} \`${route}\``)
    .join('\n')
}

/** Returns the routes that a role is the least for: those that read, and those that change something. */
function roleSection(role: string): string {
  const own = operations.filter((one) => isManaged(one) && one.role === role)
  const [reading, changing] = [
    own.filter(({ method }) => method === 'get'),
    own.filter(({ method }) => method !== 'get'),
  ]
  const part = (title: string, some: readonly Operation[]) =>
    some.length === 0 ? '' : `\n${title}\n\n${routes(some)}\n`
  return `### ${role}\n${part('Reads, for `management` and `management:read`:', reading)}${part('Changes, for `management` alone:', changing)}`
}

const page = `<!-- Written by "npm run generate" from openapi/contract.ts. Do not edit. -->

# What scopes and roles open

A *key* has scopes ([keys.md](operating/keys.md)). A *person* who is logged in has a role ([sign-in.md](operating/sign-in.md)); a key
for management may have one, too, and then needs both. \`admin\` may do what \`editor\` may, and \`editor\` what \`viewer\` may.

| Scope of a key | Opens |
|---|---|
| \`deploy\` | Everything below \`/api/v1/agents/{agent_id}/deploy\` and \`/api/v1/openai\`, for the key's agents: completions, sessions, responses, conversations, files, pages' formats, MCP, client secrets. |
| \`management\` | All routes of the lists below. |
| \`management:read\` | Those of them that read. |
| \`audit:read\` | \`GET /api/v1/audit\`, as does a login as \`admin\`. |

On a route that its scopes do not open a key gets 403; on the deploy API it gets 401. No key opens \`/api/v1/keys\`, whose routes need
a login as \`admin\`. These routes need no credential:

${routes(operations.filter(({ open }) => open === true))}

## Management, by the least role

${['viewer', 'editor', 'admin'].map(roleSection).join('\n')}`

if (!argv.includes('--check')) writeFileSync(path, page)
else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/scopes.md is not what the contract says: run npm run generate.')
  exit(1)
}
