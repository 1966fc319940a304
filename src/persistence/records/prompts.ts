/** System prompts. */
import type { AnySql } from '../postgres/database.ts'
import { type Fragment, timestamps } from '../postgres/page.ts'
import { recordTable } from '../record-table.ts'

/** Times are ISO 8601 UTC. */
export interface Prompt {
  id: string
  name: string
  content: string
  createdAt: string
  updatedAt: string
}

const columns = (sql: AnySql): Fragment => sql`id, name, content, ${timestamps(sql)}`

const table = recordTable<Prompt>('prompts', columns)
export const { list: listPrompts, find: findPrompt } = table

export const createPrompt = (sql: AnySql, { name, content }: { name: string; content: string }): Promise<Prompt> =>
  table.insert(sql, sql`(name, content) values (${name}, ${content})`)

/** Changes a prompt. Absent fields keep their value. Null when there is no such prompt. */
export const updatePrompt = (
  sql: AnySql,
  id: string,
  { name, content }: { name?: string | undefined; content?: string | undefined },
): Promise<Prompt | null> =>
  table.update(sql, id, sql`name = coalesce(${name ?? null}, name), content = coalesce(${content ?? null}, content)`)

/** A removal, which rejects with the constraint `agents_prompt` while agents use the prompt. */
export const deletePrompt = table.remove
