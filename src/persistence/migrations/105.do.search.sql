-- What a search finds messages by. Rows are written in the background and go with their message.
create table message_words (
  message_id uuid primary key references messages on delete cascade,
  session_id uuid not null,
  at         timestamptz not null, -- when the message was stored
  words      tsvector not null,    -- its words, runs of two and single characters, and whose it is; see search/text/words.ts
  whole      boolean not null      -- false: it has more words than fit
);
create index message_words_by_word on message_words using gin (words);
create index message_words_by_time on message_words (at desc, message_id desc);
create index message_words_by_session on message_words (session_id, at desc);
create index message_words_in_part on message_words (at) where not whole;

-- How far the messages have been made searchable.
create table search_progress (
  only_row boolean primary key default true check (only_row),
  changed  bigint, -- sessions that changed up to this number are done; null: it has not begun
  backlog  bigint  -- those up to this number (sessions.num) were there before, and are still to be done; 0: none
);
insert into search_progress default values;
