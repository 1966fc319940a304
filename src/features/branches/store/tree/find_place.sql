-- revision 2
/* Finds the place of a completion in the tree. The caller holds the session's lock.
   p_place: {"parent": id}: after this assistant message, null: at the beginning; {"regenerate": id}: another reply to this
   user's message, or to the one that this reply answered, null: to the last one of the path. p_place null: after the head.
   p_head: sessions.head.
   fault: unknown_parent, unknown_message, nothing_to_answer, or null. at, line, id: of the message that the new one follows
   (at -1: none). content and before_at: of a regenerate, the text of that message and the position before it on its path. */
create or replace function find_place(
  p_session uuid, p_head integer, p_place jsonb,
  out fault text, out at integer, out line integer, out id uuid, out content text, out before_at integer
) stable language plpgsql as $$
declare
  v_named uuid := coalesce(p_place ->> 'parent', p_place ->> 'regenerate')::uuid;
  r record;
begin
  at := -1;
  if p_place ? 'parent' then
    if v_named is null then return; end if;
    select m.position, m.line, m.id into at, line, id
      from messages m where m.id = v_named and m.session_id = p_session and m.role = 'assistant';
    if not found then fault := 'unknown_parent'; end if;
    return;
  end if;

  if v_named is not null then
    select m.id, m.position, m.line, m.parent, m.role into r
      from messages m where m.id = v_named and m.session_id = p_session;
    if not found then
      fault := 'unknown_message';
      return;
    end if;
  elsif p_head is not null then
    select m.id, m.position, m.line, m.parent, m.role into r
      from messages m where m.session_id = p_session and m.position = p_head;
  else
    select m.id, m.position, m.line, m.parent, m.role into r
      from messages m where m.session_id = p_session order by m.position desc limit 1;
  end if;

  if p_place ? 'regenerate' then
    while r.role = 'assistant' loop
      select m.id, m.position, m.line, m.parent, m.role into r
        from messages m where m.session_id = p_session and m.position = coalesce(r.parent, r.position - 1);
    end loop;
    if r.id is null then
      fault := 'nothing_to_answer';
      return;
    end if;
    select m.content into content from messages m where m.id = r.id;
    before_at := coalesce(r.parent, r.position - 1);
  end if;
  if r.id is null then return; end if;
  at := r.position;
  line := r.line;
  id := r.id;
end $$;
