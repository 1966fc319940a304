-- Names of the session's metadata that a client secret has set: they stand in no prompt and no tool.
alter table sessions add column uncounted text[] not null default '{}';
