-- revision 2
/* Counts what these replies used for the limits of their key and their user, once they are in token_usage: called by the
   statements that settle, for replies whose facts say so (facts.counts, see MessageLimits), in their transaction. */
create or replace function count_use(p_replies uuid[]) returns void language plpgsql as $$
begin
  insert into limit_usage (subject, day, tokens, cost)
  select x.subject, (u.at at time zone 'UTC')::date, u.prompt_tokens + u.completion_tokens,
         cost_of(u.model, u.prompt_tokens, u.completion_tokens, u.cached_tokens, u.cache_write_tokens)
    from token_usage u
    join messages m on m.id = u.id
    join sessions s on s.id = m.session_id
   cross join lateral (
     select m.facts #>> '{counts,key}' as subject
      union all
     select s.agent_id || ' ' || s.end_user where m.facts -> 'counts' ? 'user'
      union all
     select (m.facts #>> '{counts,top}') || ' ' || s.end_user where m.facts -> 'counts' ? 'top') x
   where u.id = any(p_replies) and x.subject is not null;
end $$;
