-- revision 2
/* Stores the questions of calls whose servers ask, beside those that they asked before. p_calls: see keep_waiting_calls. */
create or replace function keep_questions(p_reply uuid, p_calls jsonb) returns void language sql as $$
  insert into waiting_questions (reply_id, place, n, round, server, key, message, schema, url, sign_in)
  select c.reply_id, c.place, coalesce(b.n, 0) + q.n, coalesce(b.round, 0) + 1, c.asked ->> 'server', q.question ->> 'key',
         q.question ->> 'message', q.question ->> 'schema', q.question ->> 'url', q.question ? 'signIn'
    from (select coalesce(w.reply_id, p_reply) as reply_id, w.place, w.asked
            from jsonb_to_recordset(p_calls) as w(place integer, reply_id uuid, asked jsonb) where w.asked is not null) c
   cross join lateral jsonb_array_elements(c.asked -> 'questions') with ordinality as q (question, n)
   cross join lateral (select max(x.n) as n, max(x.round) as round from waiting_questions x
                        where x.reply_id = c.reply_id and x.place = c.place) b;
  -- Older versions would send such a call again without its answers. They lead no session that they know nothing of.
  update compatibility set oldest = 89 where oldest < 89;
  -- Those of before this one would show a sign-in as a page that is visited.
  update compatibility set oldest = 90 where oldest < 90 and jsonb_path_exists(p_calls, '$[*].asked.questions[*].signIn');
$$;
