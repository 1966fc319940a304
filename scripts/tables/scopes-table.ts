/** Writes docs/scopes.md, what keys of each scope open, from the contract; `--check` fails if the page differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { tags } from '../../openapi/contract.ts'
import type { Operation } from '../../openapi/operation.ts'

const path = fileURLToPath(new URL('../../docs/scopes.md', import.meta.url))

function cells({ scope, method, open, loginAlone, keyScope, role: least }: Operation): string[] {
  const role = least ?? ''
  if (scope === 'deploy') return ['its agents', '401', '401', '401', '']
  if (open) return ['open', 'open', 'open', 'open', '']
  if (loginAlone) return ['403', '403', '403', '403', role]
  if (keyScope === 'audit:read') return ['403', '403', '403', 'yes', role]
  return ['403', 'yes', method === 'get' ? 'yes' : '403', '403', role]
}

const rows = tags
  .flatMap(({ operations }) => Object.values<Operation>(operations))
  .filter(({ scope }) => scope !== 'health')
  .map((one) => `| ${[`\`${one.method.toUpperCase()} ${one.path}\``, ...cells(one)].join(' | ')} |`)

const page = `<!-- Written by "npm run generate" from openapi/contract.ts. Do not edit. -->

# What each scope opens

Keys are described in [keys.md](operating/keys.md). A route that is open needs no credential. The last column is the least role
of a person, and of a key that has one ([sign-in.md](operating/sign-in.md)); each role may do what the ones below it may: \`admin\`,
\`editor\`, \`viewer\`.

| Route | \`deploy\` | \`management\` | \`management:read\` | \`audit:read\` | Role |
|---|---|---|---|---|---|
${rows.join('\n')}
`

if (!argv.includes('--check')) writeFileSync(path, page)
else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/scopes.md is not what the contract says: run npm run generate.')
  exit(1)
}
