/** What a hostile caller may put into a request: made from its name, so that only the name travels. */

const MIB = 2 ** 20
export const MOST_BYTES = 4 * MIB
const HEX_A = '\\u0041'

/** So many, or as many as fit. */
const many = (most: number, bytes: number, item: (index: number) => string): string =>
  Array.from({ length: Math.min(most, bytes / (item(most).length + 1)) }, (_, i) => item(i)).join()
const fill = (text: string, bytes: number): string =>
  text.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(text))))
/** A MiB shows what grows with the square as well as four would. */
const fillMiB = (text: string, bytes: number): string => fill(text, Math.min(bytes - 40, MIB))
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

/**
 * Values for one field of a body that is right otherwise, by what the field holds; each gets the bytes that there
 * are.
 */
export const hostileValues = {
  text: {
    'a long text': (bytes) => `"${fill('word ', bytes)}"`,
    'a text without blanks': (bytes) => `"${fillMiB('x', bytes)}"`,
    'a text of escapes': (bytes) => `"${fillMiB(HEX_A, bytes)}"`,
    'a text of ideographs': (bytes) => `"${fillMiB('語', bytes)}"`,
    'a text of joined emoji': (bytes) => `"${fillMiB('👩‍👩‍👧‍👦', bytes)}"`,
    'a text of blanks': (bytes) => `"${fillMiB(' ', bytes)}x"`,
    'a text of line ends': (bytes) => `"${fillMiB('\\n', bytes)}x"`,
  },
  /** Beside those of text. */
  address: {
    'a text of dots': (bytes) => `"${fillMiB('../../', bytes)}"`,
    'an address without end': (bytes) => `"https://example.com/${fillMiB('a/../', bytes)}"`,
    'an address of a long name': (bytes) => `"https://${fillMiB('ü', bytes)}.example/"`,
    'an address of labels': (bytes) => `"https://${fillMiB('a.', bytes)}example/"`,
    'an address of placeholders': (bytes) => `"https://example.com/${fillMiB('{{a}}', bytes)}"`,
    'an address of open placeholders': (bytes) => `"https://example.com/${fillMiB('{{a', bytes)}"`,
  },
  list: {
    'many texts': (bytes) => `[${many(99_000, bytes - 60, (i) => `"${HEX_A}${i}"`)}]`,
    'many equal texts': (bytes) => `[${many(99_000, bytes - 60, () => '"web_fetch"')}]`,
    'many ids': (bytes) =>
      `[${many(90_000, bytes - 60, (i) => `"00000000-0000-4000-8000-${String(i).padStart(12, '0')}"`)}]`,
    'many objects': (bytes) => `[${many(45_000, bytes - 60, (i) => `{"a${i}":"${HEX_A}"}`)}]`,
    'many messages': (bytes) =>
      `[${many(32_000, bytes - 60, (i) => `{"role":"${i % 2 ? 'assistant' : 'user'}","content":"word ${HEX_A}"}`)},{"role":"user","content":"x"}]`,
    'one message of many parts': (bytes) =>
      `[{"role":"user","content":[${many(32_000, bytes - 60, () => `{"type":"text","text":"${HEX_A}"}`)}]}]`,
    'many chosen tools': (bytes) => `[${many(24_000, bytes - 60, (i) => `{"mcpServerId":"${i}","toolNames":["*"]}`)}]`,
    'a deep list': () => nested(190),
  },
  object: {
    'many keys': (bytes) => `{${many(99_000, bytes - 60, (i) => `"k${i}":"${HEX_A}"`)}}`,
    'many secret keys': (bytes) => `{${many(80_000, bytes - 60, (i) => `"x-auth-${i}":"${HEX_A}-${i}"`)}}`,
    'many keys that are numbers': (bytes) => `{${many(99_000, bytes - 60, (i) => `"${i * 40_000}":"${HEX_A}"`)}}`,
    'one key many times': (bytes) => `{${many(99_000, bytes - 60, () => `"a":"${HEX_A}"`)}}`,
    'one long key many times': (bytes) => `{${many(99_000, bytes - 60, () => `"${'k'.repeat(45)}":1`)}}`,
    'a schema of many fields': (bytes) =>
      `{"type":"object","properties":{${many(24_000, bytes - 60, (i) => `"p${i}":{"type":"string"}`)}}}`,
    'a schema of patterns': (bytes) =>
      `{"type":"object","patternProperties":{${many(20_000, bytes - 60, (i) => `"(a+)+${i}":{}`)}}}`,
  },
  /** An unknown field. */
  any: {
    'a number without end': (bytes) => fill('1', bytes),
    'a fraction without end': (bytes) => `0.${fill('1', bytes)}`,
    'a far too deep list': (bytes) => nested(bytes / 2),
    prototypes: (bytes) => `[${many(24_000, bytes - 60, () => '{"__proto__":{"a":1}}')}]`,
    constructors: (bytes) => `[${many(24_000, bytes - 60, () => '{"constructor":{"a":1}}')}]`,
  },
} as const satisfies Record<string, Record<string, (bytes: number) => string>>

/** Whole bodies. */
export const hostileBodies: Readonly<Record<string, (bytes: number) => Buffer>> = {
  'empty lists': (bytes) => Buffer.from(`[${fill('[],', bytes - 12)}"${HEX_A}"]`),
  'empty objects': (bytes) => Buffer.from(`[${fill('{},', bytes - 12)}"${HEX_A}"]`),
  numbers: (bytes) => Buffer.from(`[${fill('1,', bytes - 12)}1]`),
  'open brackets': (bytes) => Buffer.alloc(bytes, '['),
  'open objects': (bytes) => Buffer.from(fill('{"":', bytes)),
  quotes: (bytes) => Buffer.alloc(bytes, '"'),
  backslashes: (bytes) => Buffer.from(`"${fill('\\', bytes - 1)}`),
  'a text without end': (bytes) => Buffer.from(`"${fill('x', bytes - 1)}`),
  blanks: (bytes) => Buffer.alloc(bytes, ' '),
  'line ends and a fault': (bytes) => Buffer.from(`${fill('\n', bytes - 1)}x`),
  'no UTF-8': (bytes) => Buffer.alloc(bytes, 0xff),
  'no UTF-8 at the end': (bytes) => Buffer.concat([Buffer.alloc(bytes - 1, ' '), Buffer.from([0xc3])]),
  zeros: (bytes) => Buffer.alloc(bytes),
  'half pairs': (bytes) => Buffer.from(`"${fill('\\ud83d', bytes - 2)}"`),
  'a name of commas': (bytes) =>
    Buffer.from(`{"messages":[{"role":"user","content":"x"}],"${','.repeat(bytes - 60)}":1}`),
  'many data URLs': (bytes) =>
    Buffer.from(
      `{"messages":[{"role":"user","content":"x"}],"x":[${many(70_000, bytes - 60, () => '{"url":"data:;base64,AA=="}')}]}`,
    ),
  'U+0000 at the end': (bytes) => Buffer.from(`["${fill(HEX_A, bytes - 12)}\\u0000"]`),
}

const user = '{"role":"user","content":"x"}'
const chatCall = (id: string): string => `{"id":"${id}","type":"function","function":{"name":"f","arguments":"{}"}}`
const chatResult = (id: string): string => `{"role":"tool","tool_call_id":"${id}","content":"x"}`
const chat = (calls: string, results: string): string =>
  `{"messages":[${user},{"role":"assistant","content":null,"tool_calls":[${calls}]},${results}]}`
const itemCall = (id: string): string => `{"type":"function_call","call_id":"${id}","name":"f","arguments":"{}"}`
const itemOutput = (id: string): string => `{"type":"function_call_output","call_id":"${id}","output":"x"}`
const stateless = (items: string): string => `{"store":false,"input":[${items}]}`
/** As many as MOST_VALUES lets through. */
const CALLS = 9800
const ITEMS = 19_000
/** An id of ours whose first half is the reply's, as the ids of its parts are. */
const likePartOf = (reply: string, index: number): string =>
  `${reply.replace(/^[a-z]+_/, '').slice(0, 16)}${String(index).padStart(16, '0')}`

/** What a search of a list for each element of another makes slow; each is complete. `reply`: a stored one of the agent's. */
export const hostileConversations: Readonly<
  Record<string, { to: 'completions' | 'responses'; body: (reply: string) => string }>
> = {
  'calls whose results come in reverse order': {
    to: 'completions',
    body: () => {
      return chat(
        many(CALLS, MOST_BYTES, (i) => chatCall(`c${i}`)),
        many(CALLS, MOST_BYTES, (i) => chatResult(`c${CALLS - 1 - i}`)),
      )
    },
  },
  'calls of one id': {
    to: 'completions',
    body: () =>
      chat(
        many(CALLS, MOST_BYTES, () => chatCall('c')),
        many(CALLS, MOST_BYTES, () => chatResult('c')),
      ),
  },
  'a tool whose schema has many branches': {
    to: 'completions',
    body: () =>
      `{"messages":[${user}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","anyOf":[${many(30_000, MOST_BYTES, () => '{"required":["a"]}')}]}}}]}`,
  },
  'items of calls whose outputs come in reverse order': {
    to: 'responses',
    body: () =>
      stateless(
        `${many(CALLS, MOST_BYTES, (i) => itemCall(`c${i}`))},${many(CALLS, MOST_BYTES, (i) => itemOutput(`c${CALLS - 1 - i}`))}`,
      ),
  },
  'items that could be of a stored reply': {
    to: 'responses',
    body: (reply) =>
      `{"input":[${many(ITEMS, MOST_BYTES, (i) => `{"type":"message","role":"assistant","content":"x","id":"msg_${likePartOf(reply, i)}"}`)},${itemOutput(`call_${likePartOf(reply, 0)}`)}]}`,
  },
  'outputs that could be of a stored reply': {
    to: 'responses',
    body: (reply) =>
      `{"previous_response_id":"${reply}","input":[${many(ITEMS, MOST_BYTES, (i) => itemOutput(`call_${likePartOf(reply, i)}`))}]}`,
  },
}

/** A document for the import, which also comes as YAML. */
export const hostileYaml: Readonly<Record<string, (bytes: number) => string>> = {
  keys: (bytes) => Array.from({ length: bytes / 11 }, (_, i) => `k${i}: 1`).join('\n'),
  'empty objects': (bytes) => `[${fill('{},', bytes - 3)}]`,
  'open brackets': (bytes) => '['.repeat(bytes),
  'a list in a list': (bytes) => fill('- ', bytes),
  'explicit keys': (bytes) => fill('? ', bytes),
  colons: (bytes) => fill(': ', bytes),
  aliases: () => 'a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n',
  directives: (bytes) => fill('%\n', bytes),
  'line ends': (bytes) => fill('\n', bytes),
  documents: (bytes) => fill('---\n', bytes),
}

/** Prompts, tools and choices by the ten thousand: each is a record of an import. */
export const hostileImports: Readonly<Record<string, (bytes: number) => string>> = {
  prompts: (bytes) => `{"version":1,"prompts":[${many(30_000, bytes - 99, () => '{"name":"n","content":""}')}]}`,
  'unknown agents': (bytes) => `{"version":1,"agentTools":[${many(45_000, bytes - 99, (i) => `{"agent":"${i}"}`)}]}`,
  'unknown tools': (bytes) =>
    `{"version":1,"agentTools":[{"agent":"Agent","httpTools":[${many(95_000, bytes - 99, (i) => `"${i}"`)}]}]}`,
  'unknown built-in tools': (bytes) =>
    `{"version":1,"agentTools":[{"agent":"Agent","builtInTools":[${many(95_000, bytes - 99, (i) => `"${i}"`)}]}]}`,
  'unknown providers': (bytes) =>
    `{"version":1,"agents":[${many(24_000, bytes - 99, (i) => `{"name":"${i}","provider":"x","model":"m"}`)}]}`,
}
