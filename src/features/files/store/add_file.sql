-- revision 2
/* Stores a file whose bytes are there, under the key stored_as. f: a row of files, with the limits of its owner: null ones
   are none. Returns the limit that it would exceed, and then stores nothing; else null. Files of one owner come one by one. */
create or replace function add_file(p_file jsonb) returns text language plpgsql as $$
declare
  f record;
  v_count bigint;
  v_bytes bigint;
begin
  select * into f from jsonb_to_record(p_file) as x(
    id uuid, agent_id uuid, end_user text, filename text, purpose text, media_type text, size integer, sha256 text,
    stored_as text, expires_after integer, max_files integer, max_file_bytes bigint, max_user_bytes bigint);
  if f.max_files is not null then
    perform pg_advisory_xact_lock(
      hashtextextended(concat_ws(' ', 'files of', f.agent_id, case when f.end_user is null then 'nobody' else 'user ' || f.end_user end), 0));
    select count(*), coalesce(sum(o.size), 0) into v_count, v_bytes
      from files o
     where (o.agent_id = f.agent_id or f.agent_id is null and o.agent_id is null)
       and (o.end_user = f.end_user or f.end_user is null and o.end_user is null)
       and (o.expires_at is null or o.expires_at > clock_timestamp());
    if v_count >= f.max_files then return 'too_many_files'; end if;
    if v_bytes + f.size > f.max_file_bytes then return 'files_full'; end if;
    if user_full(f.agent_id, f.end_user, f.size, f.max_user_bytes, true) then return 'user_full'; end if;
  end if;
  update part_contents set size = f.size where sha256 = decode(f.stored_as, 'hex');
  insert into files (id, agent_id, end_user, filename, purpose, media_type, size, sha256, stored_as, expires_at)
  values (f.id, f.agent_id, f.end_user, f.filename, f.purpose, f.media_type, f.size, decode(f.sha256, 'hex'),
          decode(f.stored_as, 'hex'), clock_timestamp() + make_interval(secs => f.expires_after));
  return null;
end $$;
