-- The key that has made a conversation of no agent; empty: `PUBLIC_API_KEY`, or nobody on a server without keys.
alter table unclaimed_conversations add column key_id text not null default '';
create index unclaimed_conversations_by_key on unclaimed_conversations (key_id);
