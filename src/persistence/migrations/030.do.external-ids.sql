-- The id by which a front end knows a session, where that is no UUID (contract section 25). Null: it has none. One for each
-- agent and user; sessions of nobody count as one user's. Older versions insert without it.
alter table sessions add column external_id text;

-- Keeps two first messages of one chat from making two sessions. It has no entry for sessions without such an id.
create unique index sessions_by_external_id on sessions (agent_id, external_id, end_user) nulls not distinct
 where external_id is not null;
