-- Contents are shared among the messages of one user of one agent alone: whether a file is stored at once would else tell
-- that somebody else has sent it. So part_contents, part_pieces and part_uploads are keyed by the owner and the SHA-256
-- together (`keyOf`), in the columns that are named sha256, and a part names that key. Null: its bytes are stored under
-- its SHA-256 alone, as before.
alter table message_parts drop constraint message_parts_sha256_fkey;
alter table message_parts add column stored_as bytea references part_contents;
create index message_parts_by_key on message_parts (stored_as) where stored_as is not null;
