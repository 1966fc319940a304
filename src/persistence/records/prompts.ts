/** System prompts. */
import type { AnySql } from '../postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'

/** Times are ISO 8601 UTC. */
export interface Prompt {
  id: string
  name: string
  content: string
  createdAt: string
  updatedAt: string
}

const columns = (sql: AnySql): Fragment => sql`id, name, content, ${timestamps(sql)}`

/** Oldest first. */
export const listPrompts = (sql: AnySql, query: PageQuery): Promise<Page<Prompt>> =>
  listByAge<Prompt>(sql, 'prompts', columns(sql), query)

/** Null when there is no such prompt. */
export async function findPrompt(sql: AnySql, id: string): Promise<Prompt | null> {
  if (!isUuid(id)) return null
  const [prompt] = await sql<Prompt[]>`select ${columns(sql)} from prompts where id = ${id}`
  return prompt ?? null
}

export async function createPrompt(sql: AnySql, { name, content }: { name: string; content: string }): Promise<Prompt> {
  const [prompt] = await sql<Prompt[]>`
    insert into prompts (name, content) values (${name}, ${content}) returning ${columns(sql)}`
  if (prompt === undefined) throw new Error('The new prompt was not returned.')
  return prompt
}

/** Absent fields keep their value. Null when there is no such prompt. */
export async function updatePrompt(
  sql: AnySql,
  id: string,
  { name, content }: { name?: string | undefined; content?: string | undefined },
): Promise<Prompt | null> {
  if (!isUuid(id)) return null
  const [prompt] = await sql<Prompt[]>`
    update prompts set
      name = coalesce(${name ?? null}, name),
      content = coalesce(${content ?? null}, content),
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(sql)}`
  return prompt ?? null
}

/** False when there is no such prompt. Rejects with the constraint `agents_prompt` while agents use it. */
export async function deletePrompt(sql: AnySql, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { count } = await sql`delete from prompts where id = ${id}`
  return count > 0
}
