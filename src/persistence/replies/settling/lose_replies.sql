-- revision 15
/* Settles those of these replies whose owner was declared lost, in one transaction: a commit and a round trip for each
   reply were nine tenths of the time. One that another instance is at work on is skipped, so that several instances share
   the work. One that cannot be settled keeps no other from it.
   A reply to a queued message that no instance has begun to generate is not lost: from now on it is p_by's. Where messages
   are queued, the next one begins in the same transaction (begin_next). Neither under a p_by on which no messages begin, or that
   was itself declared lost meanwhile: nobody would look there for a reply that nobody generates.
   The caller leaves out what goes on elsewhere (may_go_on). A version that knows nothing of that names all: what goes on is
   left alone as long as an instance is there that can take it over.
   Answers a row for each that it has ended (fault null) or could not (fault: why). question: the first message of a
   session that has no title yet, for the caller to derive one. */
create or replace function lose_replies(p_replies uuid[], p_by uuid)
returns table (reply_id uuid, session_id uuid, question text, fault text) language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  v_epoch bigint; -- of p_by
  v_code text;
  v_words text;
  v_knows constant boolean := coalesce((select i.adopts is not null from instances i where i.id = p_by), false);
begin
  for r in
    -- An epoch is only ever raised, and the raise waits for whatever is written under it: once it is gone, nothing more
    -- of its replies comes. Not `for update`: whoever records a transition beside us does not matter.
    select m.id, m.session_id, m.session_num, m.instance_id, m.epoch, m.created_at, m.facts ? 'queued' as was_queued, s.queued
      from messages m join sessions s on s.id = m.session_id
     where m.id = any(p_replies) and m.status = 'streaming'
       and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)
     order by m.id
     for no key update of s skip locked
  loop
    begin
      -- Another instance may have ended it between our reading and our lock.
      perform 1 from messages m
       where m.id = r.id and m.status = 'streaming' and m.instance_id = r.instance_id and m.epoch = r.epoch;
      continue when not found;
      continue when not v_knows and exists (select 1 from instances i where i.adopts is not null and i.lost_at is null)
                    and may_go_on(r.id, null);
      v_code := case when exists (select 1 from handovers h where h.reply_id = r.id and h.reason = 'shutdown')
                     then 'shutdown' else 'instance_lost' end;
      v_words := case v_code when 'shutdown' then 'The instance is shutting down.'
                      else 'The instance that generated this reply was lost.' end;
      delete from handovers h where h.reply_id = r.id;

      if r.was_queued then
        perform 1 from queued_messages q where q.reply_id = r.id and not q.taken;
        if found then
          -- Its former owner may be taking it just now, too late to generate it: p_by takes it anew.
          update queued_messages q set taken = false where q.reply_id = r.id;
          select i.epoch into v_epoch from instances i
           where i.id = p_by and i.begins_queued and i.lost_at is null for key share;
          if found then perform give_queued(r.id, p_by, v_epoch); end if;
          continue;
        end if;
      end if;

      perform fold_reply(
        r.id,
        jsonb_build_object(
          'finish_reason', 'error', 'error_code', v_code,
          'error_message', v_words, 'error_detail', v_words,
          'ended_at', clock_timestamp(), 'requester_lost', true,
          'facts', lost_figures(r.id, r.session_id, r.created_at)),
        null, null, null);
      delete from frame_runs f where f.session_num = r.session_num;

      perform note_lost_reply(r.id, p_by, v_code);

      if r.queued > 0 then
        select i.epoch into v_epoch from instances i where i.id = p_by and i.lost_at is null;
        perform begin_or_wait(p_by, v_epoch, r.session_id);
      end if;

      reply_id := r.id;
      session_id := r.session_id;
      question := (
        select left(u.content, 100000) from messages u join sessions s on s.id = u.session_id
         where s.id = r.session_id and (s.title is null or s.title_is_draft) and u.role = 'user' order by u.position limit 1);
      fault := null;
      return next;
    exception when others then
      reply_id := r.id;
      session_id := r.session_id;
      question := null;
      fault := sqlstate || ': ' || sqlerrm;
      return next;
    end;
  end loop;
end $$;
