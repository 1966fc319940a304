-- A user's sessions in the order of their changes: whoever follows a user's list reads none of the others.
create index concurrently sessions_by_user_change on sessions (agent_id, end_user, change)
 where end_user is not null and change is not null
