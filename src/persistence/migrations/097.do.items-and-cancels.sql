-- Messages may be given to a session behind its replies (contract section 32): the next message comes behind them.
alter table sessions add column given_at integer; -- position of the last one; null: none was given so
