-- revision 1
/* Returns what a server is sent with a call whose questions it asked at last: {state, of, answers: [{key, decision, content}]}.
   Null: it asked nothing. */
create or replace function answers_of(p_reply uuid, p_place integer, p_state text, p_of text) returns jsonb
stable language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('state', p_state, 'of', p_of, 'answers', (
           select jsonb_agg(jsonb_build_object('key', q.key, 'decision', q.decision, 'content', q.content) order by q.n)
             from waiting_questions q
            where q.reply_id = p_reply and q.place = p_place
              and q.round = (select max(x.round) from waiting_questions x
                              where x.reply_id = p_reply and x.place = p_place))))
$$;
