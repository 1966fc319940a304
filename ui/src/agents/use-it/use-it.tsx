/** How pages and programs call the agent: working code with this server's address. */
import { Alert, SegmentedControl, Text, Title } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Copy } from '../../blocks/copy.tsx'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import { Code } from '../../playground/markdown/code.tsx'
import classes from '../agents.module.css'
import { type Agent, deployPath, keyNeeded } from '../resource.ts'
import { BrowserWay } from './browser-way.tsx'
import { languages, type Mode, snippets } from './snippets.ts'

const modes: { value: Mode | 'browser'; label: string }[] = [
  { value: 'stateless', label: 'One request' },
  { value: 'session', label: 'Session' },
  { value: 'browser', label: 'Browser' },
]

export function UseIt({ agent }: { agent: Agent }) {
  const { id, model } = agent
  const [search, setSearch] = useSearchParams()
  const needsKey = useQuery(keyNeeded(id)).data === true
  const base = `${location.origin}${deployPath(id)}`
  const mode = modes.find(({ value }) => value === search.get('mode'))?.value ?? 'stateless'
  const language = languages.find(({ value }) => value === search.get('lang')) ?? languages[0]
  const choose = (name: string, value: string) =>
    setSearch((before) => withParams(before, { [name]: value }), { replace: true, preventScrollReset: true })
  return (
    <>
      <Text c="dimmed" mb="lg">
        The base URL speaks the chat-completions format: every OpenAI client works with it.
      </Text>
      <dl className={classes.facts}>
        <dt>Base URL</dt>
        <dd>
          {base} <Copy text={base} label="Copy the address" />
        </dd>
        <dt>Agent ID</dt>
        <dd>
          {id} <Copy text={id} label="Copy the agent id" />
        </dd>
      </dl>
      {needsKey && (
        <Alert color="gray" icon={<IconKey aria-hidden />} title="This server requires a key" mt="md">
          It is what its administrator set as <code>PUBLIC_API_KEY</code>; the code below reads it from the environment
          as <code>GREENROOM_API_KEY</code>. Keep it on your servers: anyone who has it can use every agent.
        </Alert>
      )}
      <div className={classes.choices}>
        <SegmentedControl aria-label="Mode" data={modes} value={mode} onChange={(value) => choose('mode', value)} />
        {mode !== 'browser' && (
          <SegmentedControl
            aria-label="Language"
            data={languages.map(({ value, label }) => ({ value, label }))}
            value={language.value}
            onChange={(value) => choose('lang', value)}
          />
        )}
      </div>
      {mode === 'browser' ? (
        <BrowserWay agent={agent} needsKey={needsKey} />
      ) : (
        <Calls place={{ base, model, needsKey }} mode={mode} language={language} />
      )}
    </>
  )
}

interface CallsProps {
  place: Parameters<typeof snippets>[0]
  mode: Mode
  language: (typeof languages)[number]
}

/** A program's calls, one piece of code each. */
const Calls = ({ place, mode, language }: CallsProps) => (
  <div className={classes.snippets}>
    {snippets(place, mode, language.value).map(({ title, words, code }, index, { length }) => (
      <section key={title}>
        <Title order={2}>{length > 1 ? `${index + 1}. ${title}` : title}</Title>
        <Text c="dimmed" fz="sm" mb="xs">
          {words}
        </Text>
        <Code code={code} language={language.grammar} caption={`${title}, ${language.label}`} />
      </section>
    ))}
  </div>
)
