/** How programs call the agent: working code with this server's address. */
import { Alert, SegmentedControl, Text, Title } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { Copy } from '../blocks/copy.tsx'
import { withParams } from '../blocks/search-params.ts'
import { Code } from '../playground/markdown/code.tsx'
import classes from './agents.module.css'
import { type Agent, deployPath, keyNeeded } from './resource.ts'
import { languages, type Mode, snippets } from './snippets.ts'

const modes: { value: Mode; label: string }[] = [
  { value: 'session', label: 'Session' },
  { value: 'stateless', label: 'Stateless' },
]

export function UseIt({ agent: { id, model } }: { agent: Agent }) {
  const [search, setSearch] = useSearchParams()
  const needsKey = useQuery(keyNeeded(id)).data === true
  const base = `${location.origin}${deployPath(id)}`
  const mode = modes.find(({ value }) => value === search.get('mode'))?.value ?? 'session'
  const language = languages.find(({ value }) => value === search.get('lang')) ?? languages[0]
  const choose = (name: string, value: string) =>
    setSearch((before) => withParams(before, { [name]: value }), { replace: true, preventScrollReset: true })
  return (
    <>
      <Text c="dimmed" mb="lg">
        The address speaks the chat-completions format: every OpenAI client works with it.
      </Text>
      <dl className={classes.facts}>
        <dt>Address</dt>
        <dd>
          {base} <Copy text={base} label="Copy the address" />
        </dd>
        <dt>Agent id</dt>
        <dd>
          {id} <Copy text={id} label="Copy the agent id" />
        </dd>
      </dl>
      {needsKey && (
        <Alert color="gray" icon={<IconKey aria-hidden />} title="This server requires a key" mt="md">
          It is what its administrator set as <code>PUBLIC_API_KEY</code>; the code below reads it from the environment
          as <code>GREENROOM_API_KEY</code>. Cancel on your servers: whoever has it can use every agent.
        </Alert>
      )}
      <div className={classes.choices}>
        <SegmentedControl aria-label="Mode" data={modes} value={mode} onChange={(value) => choose('mode', value)} />
        <SegmentedControl
          aria-label="Language"
          data={languages.map(({ value, label }) => ({ value, label }))}
          value={language.value}
          onChange={(value) => choose('lang', value)}
        />
      </div>
      <div className={classes.snippets}>
        {snippets({ base, model, needsKey }, mode, language.value).map(({ title, words, code }, index, { length }) => (
          <section key={title}>
            <Title order={2}>{length > 1 ? `${index + 1}. ${title}` : title}</Title>
            <Text c="dimmed" fz="sm" mb={10}>
              {words}
            </Text>
            <Code code={code} language={language.grammar} caption={`${title}, ${language.label}`} />
          </section>
        ))}
      </div>
    </>
  )
}
