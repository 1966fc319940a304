/** A conversation for vendors that want two roles in turn, each with blocks of text, calls and results. Pure. */

import { isDeepStrictEqual } from 'node:util'
import type {
  MessagePart,
  ModelMessage,
  Segment,
  ToolCall,
  ToolResultMessage,
  ToolSpec,
} from '../../actors/ports/index.ts'
import { mayChange } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { saidBehind } from '../wire/echoes.ts'
import { parseArguments } from '../wire/provider-json.ts'
import { plainId, withUniqueCallIds } from './call-ids.ts'
import { segmentsFor, withToolPictures } from './outgoing-parts.ts'

export interface Exchange<Block> {
  role: 'user' | 'model'
  blocks: Block[]
}

/** The format of one vendor's blocks. */
export interface Wire<Block> {
  text(text: string): Block
  /** Writes a picture or file that the provider accepts. */
  part(part: MessagePart): Block
  /** The provider's type. */
  type: string
  /** Writes a call. `isFirst`: the first of its turn. */
  call(call: ToolCall, isFirst: boolean): Block
  /** Writes the result of `call`. `blocks`: its contents in order, where it holds more than text; else null. */
  result(call: ToolCall, content: string, blocks: readonly Block[] | null): Block
  /** True when results hold pictures and files themselves. */
  partsInResults: boolean
  /**
   * Returns the original blocks of a turn when `echo` is this adapter's own, with the names and ids of `calls`, in
   * order.
   */
  echoed(echo: object, calls: readonly ToolCall[]): readonly Block[] | null
  /** True when results must not share a message with text. */
  resultsApart: boolean
}

/**
 * Arranges a conversation. Roles alternate (with `resultsApart`, text may follow results of the same role), the user
 * begins, blank text is left out: vendors refuse it. A session may hold calls of another vendor: their ids are made
 * plain.
 */
export function exchangesOf<Block>(messages: readonly ModelMessage[], wire: Wire<Block>): Exchange<Block>[] {
  const exchanges: Exchange<Block>[] = []
  const asked = new Map<string, ToolCall>()
  let lastKind = ''
  const add = (role: 'user' | 'model', kind: 'words' | 'results', blocks: readonly Block[]) => {
    if (blocks.length === 0) return
    if (exchanges.length === 0 && role === 'model') add('user', 'words', [wire.text(opening)])
    const last = exchanges.at(-1)
    const together = last?.role === role && (kind === lastKind || !wire.resultsApart)
    if (last && together) last.blocks.push(...blocks)
    else exchanges.push({ role, blocks: [...blocks] })
    lastKind = kind
  }
  const words = (text: string): Block[] => (text.trim() === '' ? [] : [wire.text(text)])
  const isEchoed = ({ echo }: { echo?: object }) => echo !== undefined && wire.echoed(echo, []) !== null
  for (const message of withUniqueCallIds(
    withToolPictures(wire.type, messages, wire.partsInResults),
    plainId,
    isEchoed,
  )) {
    if (message.role === 'tool') {
      const call = asked.get(message.toolCallId)
      if (call !== undefined) add('user', 'results', [wire.result(call, message.content, resultBlocks(message, wire))])
      continue
    }
    if (message.role === 'user') {
      const segments = segmentsFor(wire.type, message)
      add(
        'user',
        'words',
        segments.map((segment) => blockOf(segment, wire)),
      )
    } else {
      const calls = message.toolCalls ?? []
      for (const call of calls) asked.set(call.id, call)
      const { echo } = message
      const echoed = echo ? wire.echoed(echo, calls) : null
      // The content includes the text after the echo.
      for (const { role, content } of echo && echoed ? saidBehind(echo) : []) {
        add(role === 'user' ? 'user' : 'model', 'words', words(content))
      }
      add(
        'model',
        'words',
        echoed ?? [...words(message.content), ...calls.map((call, index) => wire.call(call, index === 0))],
      )
    }
  }
  return exchanges
}

const blockOf = <Block>(segment: Segment, wire: Wire<Block>): Block =>
  typeof segment === 'string' ? wire.text(segment) : wire.part(segment)

const resultBlocks = <Block>(message: ToolResultMessage, wire: Wire<Block>): Block[] | null =>
  message.segments?.map((segment) => blockOf(segment, wire)) ?? null

const opening = '(The conversation begins with the assistant.)'

/** Returns a call's arguments as the object that vendors require, `{}` where they are not one. */
export function argumentsOf({ arguments: text }: ToolCall): Record<string, unknown> {
  const value = parseArguments(text)
  return isObject(value) ? value : {}
}

/**
 * Returns the arguments of an echo with the digits of their call's text: an echo that was stored with a waiting call has
 * JavaScript's numbers. Others, such as those before a decision changed them, stay.
 */
export function echoedArguments<Stored extends object>(
  stored: Stored,
  call: ToolCall,
): Stored | Record<string, unknown> {
  if (!mayChange(call.arguments)) return stored
  const own = argumentsOf(call)
  return isDeepStrictEqual(asPlain(own), asPlain(stored)) ? own : stored
}

const asPlain = (value: object): unknown => JSON.parse(JSON.stringify(value))

/**
 * Returns the tools that a conversation mentions, without their schemas: for requests that offer none. Anthropic
 * refuses calls in the history without `tools`; declared and forbidden (`tool_choice`), the history may stay as it was.
 * As text it would teach the model to write calls as text, and signed reasoning would not fit any more.
 */
export function toolsMentionedIn(messages: readonly ModelMessage[]): ToolSpec[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return toolsNamed(calls.map(({ name }) => name))
}

export const notAvailable = 'Not available now.'

/** Declares tools that the history mentions. */
export const toolsNamed = (names: readonly string[]): ToolSpec[] =>
  [...new Set(names)].map((name) => ({ name, description: notAvailable, inputSchema: { type: 'object' } }))
