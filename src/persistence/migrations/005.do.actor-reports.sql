-- Who asks which actors live elsewhere leaves a mark for each other instance, which answers here (contract section 8).
create table actor_reports (
  instance_id uuid primary key references instances on delete cascade,
  wanted_at   timestamptz not null,
  reported_at timestamptz,
  report      jsonb
);
