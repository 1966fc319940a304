-- revision 11
/* Copies a message into a fork (contract section 14). The copy has a new id, and is no reply of its session's own, so
   it has no frames, usage and owner. p_frame: of a reply, the content visible to its reader at this frame; null: all
   stored content. */
create or replace function copy_message(m messages, p_session uuid, p_position integer, p_frame bigint)
returns messages language plpgsql as $$
declare
  c messages := m;
  v_frames integer;
  v_end integer;
  v_thoughts integer;
begin
  -- Version 7, as uuidv7() of PostgreSQL 18 has it: the time, then what gen_random_uuid() gives.
  c.id := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;
  c.session_id := p_session;
  c.position := p_position;
  c.parent := null; c.line := null; c.lines_before := null; c.asked_place := null;
  c.session_num := null; c.first_seq := null; c.include_usage := null; c.instance_id := null; c.epoch := null;
  c.prompt_tokens := null; c.completion_tokens := null; c.usage_estimated := null;
  c.ended_at := null; c.settled_at := null; c.requester_lost := null; c.decisions_hash := null;
  -- Its items are named as in the original.
  c.facts := case when m.facts ? 'encoder' then jsonb_build_object('encoder', m.facts -> 'encoder') end;
  if m.role = 'user' then return c; end if;

  if m.status = 'streaming' then
    select f.content, f.ends, f.events, f.reasoning, f.reasoning_frames, f.reasoning_ends
      into c.content, c.frame_ends, c.tool_events, c.reasoning, c.reasoning_frames, c.reasoning_ends from fold_frames(m.id) f;
    c.status := 'complete';
    c.finish_reason := 'cancelled';
  end if;

  if p_frame is not null then
    v_frames := least(p_frame - m.first_seq, cardinality(c.frame_ends));
    v_end := case when v_frames > 0 then c.frame_ends[v_frames] else 0 end;
    if v_end < octet_length(c.content) then
      c.content := convert_from(substring(convert_to(c.content, 'UTF8') from 1 for v_end), 'UTF8');
      c.status := 'complete';
      c.finish_reason := 'cancelled';
      c.error_code := null; c.error_message := null; c.error_detail := null;
    end if;
    c.frame_ends := c.frame_ends[1:v_frames];
    v_thoughts := (select count(*) from unnest(c.reasoning_frames) f where f <= v_frames);
    if v_thoughts = 0 then
      c.reasoning := null; c.reasoning_frames := null; c.reasoning_ends := null; c.reasoning_ms := null;
    else
      c.reasoning := convert_from(substring(convert_to(c.reasoning, 'UTF8') from 1 for c.reasoning_ends[v_thoughts]), 'UTF8');
      c.reasoning_frames := c.reasoning_frames[1:v_thoughts];
      c.reasoning_ends := c.reasoning_ends[1:v_thoughts];
    end if;
  end if;

  -- Events lie behind the frame that they name, from now on counted from the role frame.
  if c.tool_events is not null then
    -- A question, and its server's state, stay with the original.
    select jsonb_agg((case when e.stored -> 'event' ? 'asked' then e.stored #- '{event,asked}' else e.stored end)
                     || jsonb_build_object('seq', (e.stored ->> 'seq')::bigint - coalesce(m.first_seq, 0)) order by e.place)
      into c.tool_events
      from jsonb_array_elements(c.tool_events) with ordinality as e (stored, place)
     where p_frame is null or (e.stored ->> 'seq')::bigint < p_frame;
    -- Without all of its calls it waited for nobody.
    if c.finish_reason = 'tool_calls' and jsonb_array_length(m.tool_events) > coalesce(jsonb_array_length(c.tool_events), 0) then
      c.finish_reason := 'cancelled';
    end if;
  end if;
  -- Copies that earlier versions made have null here, so a copy that waited without shown calls has an empty list.
  c.shown_calls := case when c.finish_reason = 'tool_calls' then coalesce(c.shown_calls, '[]') end;
  if c.tool_events is null and c.reasoning is null then c.frame_ends := null; end if;
  return c;
end $$;
