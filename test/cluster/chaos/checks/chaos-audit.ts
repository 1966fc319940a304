/** Evidence in the database after a chaos run: who wrote what, recorded by test-only triggers, and what is left. */
import type { Sql } from '../../../../src/persistence/postgres/database.ts'
import type { Violation } from '../chaos-witness.ts'
import type { StoredMessage } from './chaos-checker.ts'
import type { StoredCall } from './chaos-effects.ts'

/** Every frame, opened reply, owner and outcome, with the connection that wrote it (`application_name`) and its order. */
export async function installAudit(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create sequence chaos_steps;
    create table chaos_frames (session_num bigint, seq bigint, part smallint, text text, writer text, step bigint);
    create table chaos_replies (reply_id uuid, session_id uuid, session_num bigint, first_seq bigint,
                                instance_id uuid, writer text, step bigint);
    create table chaos_owners (reply_id uuid, instance_id uuid, step bigint);
    create table chaos_outcomes (reply_id uuid, code text, writer text, step bigint);
    create table chaos_renewals (instance_id uuid primary key, at timestamptz);
    create table chaos_changes (message_id uuid, writer text, before jsonb, after jsonb);

    create function chaos_note_frame() returns trigger language plpgsql as $$
    begin
      insert into chaos_frames
      select u.*, current_setting('application_name'), nextval('chaos_steps')
        from unnest(new.session_nums, new.seqs, new.parts, new.texts) u;
      return null;
    end $$;
    create trigger chaos_note_frame after insert on flushes for each row execute function chaos_note_frame();

    create function chaos_note_message() returns trigger language plpgsql as $$
    declare
      v_writer text := current_setting('application_name');
      v_owners text[] := '{instance_id,epoch,facts,requester_lost}'; -- what changes when another instance takes a reply over
    begin
      if tg_op = 'INSERT' then
        if new.role = 'assistant' then
          insert into chaos_replies values (new.id, new.session_id, new.session_num, new.first_seq, new.instance_id,
                                            v_writer, nextval('chaos_steps'));
          insert into chaos_owners values (new.id, new.instance_id, nextval('chaos_steps'));
        end if;
      elsif old.status = 'streaming' and new.status <> 'streaming' then
        insert into chaos_outcomes values (new.id, new.error_code, v_writer, nextval('chaos_steps'));
      elsif new.status = 'streaming' and new.facts ? 'handedOver' and to_jsonb(old) - v_owners = to_jsonb(new) - v_owners then
        insert into chaos_owners values (new.id, new.instance_id, nextval('chaos_steps'));
      elsif old is distinct from new then
        insert into chaos_changes values (new.id, v_writer, to_jsonb(old), to_jsonb(new));
      end if;
      return null;
    end $$;
    create function chaos_owner(p_reply uuid, p_step bigint) returns text stable language sql as $$
      select left(o.instance_id::text, 8) from chaos_owners o
       where o.reply_id = p_reply and o.step < p_step order by o.step desc limit 1
    $$;
    create function chaos_note_renewal() returns trigger language plpgsql as $$
    begin
      insert into chaos_renewals values (new.id, clock_timestamp())
        on conflict (instance_id) do update set at = excluded.at;
      return null;
    end $$;
    create trigger chaos_note_renewal after insert or update of lease on instances
      for each row execute function chaos_note_renewal();
    create trigger chaos_note_message after insert or update on messages
      for each row execute function chaos_note_message();
  `)
}

interface Finding {
  session: string | null
  detail: string
}

/** No reply had two writers at a time or writes after its outcome, and each has exactly one outcome. */
export async function auditViolations(sql: Sql): Promise<Violation[]> {
  await sql`create index if not exists chaos_replies_at on chaos_replies (session_num, first_seq)`
  await sql`create index if not exists chaos_owners_at on chaos_owners (reply_id, step)`
  await sql`analyze chaos_replies, chaos_frames, chaos_outcomes, chaos_owners`
  // Of a deleted session a flush whose answer was lost writes once more what the deletion has taken: `tidy` removes it.
  const rules = {
    'one-writer': sql<Finding[]>`
      select r.session_id as session, to_jsonb(f) || to_jsonb(r) as detail from chaos_frames f
        left join lateral (select * from chaos_replies x where x.session_num = f.session_num and x.first_seq < f.seq + least(f.part, 1)
                            order by x.first_seq desc limit 1) r on true
       where (r.reply_id is null or f.writer <> 'greenroom journal ' || chaos_owner(r.reply_id, f.step))
         -- A flush without an answer may arrive when another instance has taken over what it had stored with a later try.
         and not exists (select 1 from chaos_frames e where e.step < f.step and e.session_num = f.session_num and e.seq = f.seq
                                                        and e.part = f.part and e.text = f.text and e.writer = f.writer)
       limit 20`,
    'one-opener': sql<Finding[]>`
      select session_id as session, to_jsonb(r) as detail from chaos_replies r
       where writer <> 'greenroom replies ' || left(instance_id::text, 8) limit 20`,
    // A flush that was sent again in parts may be there twice.
    'written-once': sql<Finding[]>`
      select null as session, to_jsonb(f) as detail from (
        select session_num, seq, array_agg(text) as texts, array_agg(writer) as writers, array_agg(step) as steps
          from chaos_frames group by session_num, seq, greatest(part, 0) having count(distinct (part, text)) > 1) f
       where exists (select 1 from sessions s where s.num = f.session_num) limit 20`,
    'behind-the-outcome': sql<Finding[]>`
      select r.session_id as session, to_jsonb(f) || to_jsonb(o) as detail
        from chaos_outcomes o join chaos_replies r using (reply_id)
        join lateral (select min(x.first_seq) as next_seq from chaos_replies x
                       where x.session_num = r.session_num and x.first_seq > r.first_seq) n on true
        join chaos_frames f on f.session_num = r.session_num and f.seq >= r.first_seq
                           and f.seq < coalesce(n.next_seq, f.seq + 1) and f.step > o.step limit 20`,
    'one-outcome': sql<Finding[]>`
      select r.session_id as session, to_jsonb(r) || jsonb_build_object('outcomes', count(o.reply_id), 'writers', array_agg(o.writer)) as detail
        from chaos_replies r left join chaos_outcomes o using (reply_id)
       where exists (select 1 from sessions s where s.id = r.session_id)
       group by r, r.session_id having count(o.reply_id) <> 1 limit 20`,
    'owner-settles': sql<Finding[]>`
      select r.session_id as session, to_jsonb(o) || to_jsonb(r) as detail
        from chaos_outcomes o join chaos_replies r using (reply_id)
       where o.code is distinct from 'instance_lost' and o.writer <> 'greenroom replies ' || chaos_owner(o.reply_id, o.step)
       limit 20`,
    'outcomes-stay': sql<Finding[]>`
      select null as session, to_jsonb(c) as detail from chaos_changes c limit 20`,
    'no-frames-left': sql<Finding[]>`
      select s.id as session, count(*)::text as detail
        from (select u.session_num, u.seq from flushes l cross join unnest(l.session_nums, l.seqs) as u (session_num, seq)
              union all select r.session_num, u.seq from frame_runs r cross join unnest(r.seqs) as u (seq)) f
        join sessions s on s.num = f.session_num and s.next_seq <= f.seq
       group by s.id limit 20`,
    'nothing-offered': sql<Finding[]>`
      select m.session_id as session, to_jsonb(h) as detail from handovers h join messages m on m.id = h.reply_id limit 20`,
    'no-turns-left': sql<Finding[]>`
      select m.session_id as session, to_jsonb(m) as detail from messages m
       where exists (select 1 from reply_turns t where t.reply_id = m.id) or m.facts ? 'start' limit 20`,
    'no-intents-left': sql<Finding[]>`
      select i.session_id as session, to_jsonb(i) as detail
        from intents i join instances n on n.id = i.instance_id left join messages m on m.id = i.reply_id
       -- They are read once a second, and the cancel of a reply is removed behind its end.
       where n.lost_at is null and greatest(i.created_at, m.settled_at) < clock_timestamp() - interval '5 seconds' limit 20`,
  }
  const found: Violation[] = []
  for (const [rule, rows] of Object.entries(rules)) {
    for (const { session, detail } of await rows) {
      found.push({ rule, session: session ?? '', detail: JSON.stringify(detail) })
    }
  }
  return found
}

/** All stored messages, by session, in order. */
export async function storedMessages(sql: Sql): Promise<Map<string, StoredMessage[]>> {
  const rows = await sql<StoredMessage[]>`
    select id, session_id as session, position, role, status, content, finish_reason as finish, error_code as code,
           first_seq as "firstSeq", frame_ends as "frameEnds", include_usage as "includeUsage",
           jsonb_array_length(coalesce(facts -> 'continuations', '[]')) as seams
      from messages order by session_id, position`
  return Map.groupBy(rows, ({ session }) => session)
}

/**
 * From the last renewal of each instance that was lost for good to the outcome of the last of its replies (milliseconds,
 * sorted).
 */
export async function lossesSettled(sql: Sql): Promise<{ instance: string; ms: number }[]> {
  const rows = await sql<{ instance: string; ms: number }[]>`
    select i.id as instance, (extract(epoch from max(m.settled_at) - n.at) * 1000)::float8 as ms
      from instances i join chaos_renewals n on n.instance_id = i.id join messages m on m.instance_id = i.id
     where i.lost_at is not null and m.error_code = 'instance_lost' group by i.id, n.at
    having max(m.settled_at) > n.at order by 2`
  return rows.map(({ instance, ms }) => ({ instance, ms: Math.round(ms) }))
}

/** The tool calls of all settled replies, in their order. */
export const storedCalls = (sql: Sql): Promise<StoredCall[]> =>
  sql<StoredCall[]>`
    select m.id as reply, row_number() over (partition by m.id order by c.place)::integer as n,
           (select (r.stored -> 'event' ->> 'ok')::boolean from jsonb_array_elements(m.tool_events) as r (stored)
             where r.stored -> 'event' ->> 'type' = 'tool_result'
               and r.stored -> 'event' ->> 'id' = c.stored -> 'event' ->> 'id' limit 1) as ok
      from messages m cross join jsonb_array_elements(m.tool_events) with ordinality as c (stored, place)
     where c.stored -> 'event' ->> 'type' = 'tool_call'`

/** Replies of deleted sessions. */
export async function deletedReplies(sql: Sql): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select reply_id as id from chaos_replies r where not exists (select 1 from sessions s where s.id = r.session_id)`
  return new Set(rows.map(({ id }) => id))
}
