-- A conversation is a tree (contract section 14). Null stands for what every stored conversation is, one straight line: no
-- row is rewritten, and sessions without a branch go on storing null alone.
alter table messages
  add column parent      integer, -- position of the message before it on its path; -1: it is a first one; null: position - 1
  add column line        integer, -- where the run of messages begins that each follow the position before; null: 0
  add column asked_place jsonb;   -- of a reply: where its request wanted it (find_place.sql); null: after the head

alter table sessions
  add column head        integer, -- position of the path's last message; null: there are no branches, it is the newest one
  add column forked_from jsonb;   -- {session_id, message_id, frame_id}; outlives that session

-- Versions before this one read every conversation as one line.
update compatibility set oldest = 20;
