-- What a message that begins a line of positions knows of its path, so that a path is read without a step for each branch.
alter table messages
  add column lines_before integer[]; -- the lines before it, oldest first, each as its first and its last position, the newest 32 at most; null: not stored
