-- Signatures, by which a search finds messages: docs/design/search.md. Rows are written in the background and go with their message.
-- (message_words and search_progress serve versions before this one, which may run beside it.)
create table message_signatures (
  session_id uuid not null,
  message_id uuid not null,
  num        bigint not null,      -- in the order in which messages were made searchable
  at         timestamptz not null, -- when the message was stored
  signature  bytea not null,       -- the bits of its words and of whose it is; see search/text/signature.ts
  primary key (session_id, message_id)
);
create unique index message_signatures_by_num on message_signatures (num);
alter table message_signatures
  alter column signature set storage external, -- its bits are as good as random
  alter column session_id set statistics 10,
  alter column message_id set statistics 10,
  alter column num set statistics 10,
  alter column at set statistics 10,
  alter column signature set statistics 0;
alter table message_signatures set (autovacuum_analyze_scale_factor = 0.5, autovacuum_analyze_threshold = 5000);

-- No foreign key: looking for the message of each row took as long as writing it.
create function drop_signatures() returns trigger language plpgsql as $$
begin
  delete from message_signatures w using gone where w.session_id = gone.session_id and w.message_id = gone.id;
  return null;
end $$;
create trigger drop_signatures after delete on messages
  referencing old table as gone for each statement execute function drop_signatures();

-- Signatures of many messages, turned: of each bit, which messages have it. A slice is an eighth of `messages` bytes.
create table signature_slices (
  first_num bigint primary key,
  messages  integer not null,     -- how many numbers, the first one included
  width     integer not null,     -- number of slices, a power of two: longer signatures are folded
  last_at   timestamptz not null, -- of the newest message
  slices    bytea not null
);
alter table signature_slices alter column slices set storage external;

-- How far the messages have been made searchable.
create table signature_progress (
  only_row   boolean primary key default true check (only_row),
  changed    bigint, -- sessions that changed up to this number are done; null: it has not begun
  backlog    bigint, -- those up to this number (sessions.num) were there before, and are still to be done; 0: none
  given      bigint not null default 0, -- the highest num
  sliced     bigint not null default 0, -- the highest num that stands in slices
  open_bytes bigint not null default 0  -- of the signatures behind it
);
insert into signature_progress default values;
