-- revision 2
/* Finds what a retry without a key repeats: the reply to the same message or the same decisions, while it runs or its requester
   was lost, or the message that waits in the queue. p_message, p_text: see admit_message. p_queued: sessions.queued. p_last: the
   session's newest reply (null: it has none).
   Returns an answer of admit_message. Null: the retry repeats nothing. */
create or replace function repeated_message(p_message jsonb, p_text text, p_queued integer, p_last uuid)
returns jsonb language plpgsql as $$
declare
  m record;
  last record;
  first record;
  v_queued uuid;
  v_is_regenerate boolean;
begin
  select * into m from jsonb_to_record(p_message) as x(
    session_id uuid, place jsonb, parts jsonb, decisions jsonb, decisions_hash text);
  v_is_regenerate := coalesce(m.place ? 'regenerate', false);
  select x.id, x.status, x.requester_lost, x.created_at, x.continues, x.decisions_hash into last
    from messages x where x.id = p_last;

  if m.decisions is not null then
    if (last.status = 'streaming' or last.requester_lost) and last.decisions_hash = decode(m.decisions_hash, 'hex')
       and last.created_at > clock_timestamp() - interval '10 minutes' then
      return jsonb_build_object('outcome', 'joined', 'reply_id', last.id);
    end if;
    return null;
  end if;

  if p_queued > 0 then
    select q.reply_id into v_queued from queued_messages q
     where q.session_id = m.session_id and q.admission is null and q.content = p_text and same_parts(q.id, m.parts)
       and q.message -> 'place' is not distinct from m.place
     order by q.num desc limit 1;
    if found then return joined_queued(p_queued, v_queued) || jsonb_build_object('reply_id', v_queued); end if;
  end if;

  with recursive chain as ( -- the reply to the newest user's message, which the newest reply may only continue
    select last.id as id, last.continues as continues
    union all
    select b.id, b.continues from chain c join messages b on b.id = c.continues
  )
  select x.id, x.position, x.parent, x.status, x.requester_lost, x.created_at, x.asked_place into first
    from chain c join messages x on x.id = c.id where c.continues is null;
  perform 1 from messages u
   where (first.status = 'streaming' or first.requester_lost) and first.asked_place is not distinct from m.place
     and u.session_id = m.session_id and u.position = coalesce(first.parent, first.position - 1)
     and (v_is_regenerate or (u.content = p_text and same_parts(u.id, m.parts)))
     and case when v_is_regenerate then first.created_at else u.created_at end > clock_timestamp() - interval '10 minutes';
  if found then return jsonb_build_object('outcome', 'joined', 'reply_id', first.id); end if;
  return null;
end $$;
