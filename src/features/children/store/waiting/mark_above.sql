-- revision 1
/* Has those who follow lists be sent the sessions that wait above this one: what is pending there has changed. One that somebody
   is at work on is left out: whoever decides from above has its lock, and waits for this one's. */
create or replace function mark_above(p_session uuid) returns void language plpgsql as $$
begin
  update sessions x set change = nextval('session_changes')
    from (select s.id from sessions s
           where s.status = 'waiting' and s.id in (
             with recursive above as (
               select c.parent_session from children c where c.session_id = p_session and not c.over
               union
               select c.parent_session from above a join children c on c.session_id = a.parent_session and not c.over
             )
             select a.parent_session from above a)
             for no key update skip locked) w
   where x.id = w.id;
end $$;
