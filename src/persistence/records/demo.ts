/** Records that the first start on an empty embedded database creates, so that the first request works without a key. */
import type { Sql } from '../postgres/database.ts'

const demoAgentId = '00000000-0000-4000-8000-000000000001'

const prompt = 'You are the demo agent of Greenroom. Be short and friendly.'

/** Creates the demo, once in a database's life: a deleted demo stays deleted. Resolves to whether it was created. */
export async function seedDemo(sql: Sql): Promise<boolean> {
  const rows = await sql`
    with first as (
      select 1 where not exists (
        select 1 from pg_sequences where schemaname = current_schema()
           and sequencename in ('providers_num_seq', 'prompts_num_seq', 'agents_num_seq') and last_value is not null)
    ), provider as (
      insert into providers (name, provider_type) select 'Demo', 'demo' from first returning id
    ), prompt as (
      insert into prompts (name, content) select 'Demo', ${prompt} from first returning id
    )
    insert into agents (id, name, provider_id, model, prompt_id)
    select ${demoAgentId}, 'Demo', provider.id, 'demo', prompt.id from provider, prompt returning 1`
  return rows.length > 0
}
