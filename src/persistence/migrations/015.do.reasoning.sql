-- What a model thought before it answered, for replies that were asked to show it. A frame of reasoning is a frame of empty
-- text with its reasoning beside it, and so it is in frame_ends: versions before this one read the same ids and the same
-- content, without the reasoning.
alter table frames
  add column reasoning text; -- null: a frame of text, or a tool event

alter table messages
  add column reasoning        text,      -- null: not asked for, or none came
  add column reasoning_frames integer[], -- which of the reply's numbered frames (1, 2, 3, …: places in frame_ends) it came in
  add column reasoning_ends   integer[], -- where each of these ends in it, in UTF-8 bytes
  add column reasoning_ms     integer;   -- how long the model thought; null: not known
