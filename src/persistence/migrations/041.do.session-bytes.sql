-- How much a session holds, in bytes: texts, reasoning and tool events of its messages, and their parts. Null: it was not
-- counted yet; whoever needs to know counts it (session_bytes.sql).
alter table sessions add column bytes bigint;
alter table sessions alter column bytes set default 0;
