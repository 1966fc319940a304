/** Words of the pages that readers found odd do not come back, and those that took their places are there. */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const pages = new URL('../../ui/src/', import.meta.url)
const files = (await readdir(pages, { recursive: true })).filter((name) => /\.tsx?$/.test(name))
const source = (await Promise.all(files.map((name) => readFile(new URL(name, pages), 'utf8')))).join('\n')

test.each([
  [/\bGet the code\b|\bUse it\b|Call it from your code/, null],
  [/Asks to call/, 'Requested calls'],
  [/Make it yours/, 'Get started'],
  [/Continue talking/, 'Open playground'],
  [/Another reply/, 'Regenerate'],
  [/Compare replies|Rerun side by side/, null],
  [/Answer the message in each column/, null],
  [/Keep this one|Apply to agent/, null],
  [/Fork within|Fork here/, 'Branch from this word'],
  [/before it was shown|read through/, 'stored through word'],
  [/Asked for a decision|not decided/, 'Waiting for approval'],
  [/Approve with these/, 'Approve edited'],
  [/Tokens read|Tokens written|Read by models/, 'Input tokens'],
  [/No names match|No \w+ match(es)?\./, 'No results'],
  [/Only sessions of this user|exact name/, 'Filter by user ID'],
  [/label="Ask again"|>\s*Ask again\s*</, 'Refresh tools'],
  [/did not tell its tools/, null],
  [/"the model['’]s own|placeholder="[Tt]he provider['’]s default/, 'Provider default'],
  [/Cancel on your servers/, 'Keep it on your servers'],
  [/is required for/, 'Enter the API key'],
  [/0 offers no tools|0 turns tools off/, '0: no tools are offered'],
  [/It cannot be changed later/, 'The type cannot be changed later'],
  [/ and more`|of .* and more/, null],
  [/Name \(login\)/, 'Username'],
  [/No page may call/, 'No websites are allowed yet'],
  [/What happened"? (icon|label)|label="What happened"/, 'label="Trace"'],
  [/\bWaiting for approval, not decided\b/, "hasBegun(message) ? 'Writing' : 'Waiting for the first token'"],
  [/label="Waiting"|title="Waiting"/, 'Approvals'],
  [/Not started/, "idle: 'New'"],
  [/for more than 60 s/, 'silent for over 60 s'],
  [/\bRuns on\b|Readers, by instance|>\s*Subscribers\s*</, 'Open windows'],
  [/Live actors/, 'Running sessions'],
  [/Nobody named/, 'Anonymous'],
  [/What it opens|opens nothing/, 'Permissions'],
  [/Ends with|Of them/, 'Reasoning'],
  [/Requests a minute|Replies at a time|Cost a month/, 'Concurrent replies'],
  [/Pick one to see|Make a session|All that failed|History budget|None: the model/, 'All failures'],
  [/leaves the list/, 'is removed from the list'],
])('%s', (odd, better) => {
  expect(source.match(odd)?.[0]).toBeUndefined()
  if (better !== null) expect(source).toContain(better)
})
