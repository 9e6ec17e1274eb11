// What is stored, and what the database itself enforces (design §3.1).
//
// - An entry's parent exists, in the same session: a foreign key. It exists before its child and never changes: so no cycle can be stored.
// - Entries and events are append-only: triggers refuse to change or delete them.
// - A session's head is one of its own entries.
// - `event.seq` has no gaps: the only insert takes the session's greatest seq plus one.
//
// `call` is the journal of effects: `dispatched` is stored after every refusal and just before the effect, the result when that call ends.
// Between the two, after a crash, it is unknown whether the effect took place; before the first it surely did not.

/** One string a version; never change one that was released. `pragma user_version` counts those that were applied. */
export const migrations: readonly string[] = [
  `
  create table session (
    id text primary key,
    title text not null,
    workspace text not null,
    model text not null,
    archived integer not null default 0 check (archived in (0, 1)),
    state text not null,
    head text,
    created_at integer not null,
    updated_at integer not null,
    foreign key (id, head) references entry (session_id, id) deferrable initially deferred
  ) strict;

  create table entry (
    n integer primary key,
    id text not null unique,
    session_id text not null references session (id),
    parent_id text,
    at integer not null,
    type text not null,
    payload text not null,
    unique (session_id, id),
    check (parent_id is null or parent_id <> id),
    foreign key (session_id, parent_id) references entry (session_id, id)
  ) strict;
  create index entry_session on entry (session_id, n);
  create trigger entry_fixed before update on entry begin select raise(abort, 'entries are append-only'); end;
  create trigger entry_kept before delete on entry begin select raise(abort, 'entries are append-only'); end;

  create table event (
    session_id text not null references session (id),
    seq integer not null check (seq > 0),
    at integer not null,
    run_id text,
    turn integer,
    type text not null,
    payload text not null,
    primary key (session_id, seq)
  ) strict, without rowid;
  create trigger event_fixed before update on event begin select raise(abort, 'events are append-only'); end;
  create trigger event_kept before delete on event begin select raise(abort, 'events are append-only'); end;

  create table run (
    id text primary key,
    session_id text not null references session (id),
    state text not null,
    cause text,
    model text not null,
    turn integer not null,
    first_seq integer not null,
    started_at integer not null,
    ended_at integer
  ) strict;
  create index run_session on run (session_id, started_at);
  create index run_open on run (state) where ended_at is null;

  create table call (
    run_id text not null references run (id),
    call_id text not null,
    turn integer not null,
    position integer not null,
    name text not null,
    dispatched_at integer,
    result text,
    primary key (run_id, call_id)
  ) strict, without rowid;

  create table approval (
    id text primary key,
    session_id text not null references session (id),
    run_id text not null references run (id),
    request text not null,
    answer text,
    asked_at integer not null,
    closed_at integer
  ) strict;
  create index approval_open on approval (session_id) where closed_at is null;

  create table inbox (
    id text not null,
    session_id text not null references session (id),
    kind text not null check (kind in ('prompt', 'steer', 'follow-up')),
    text text not null,
    at integer not null,
    state text not null check (state in ('queued', 'taken', 'withdrawn')),
    taken_run text,
    taken_turn integer,
    primary key (session_id, id)
  ) strict;
  create index inbox_waiting on inbox (session_id, at) where state = 'queued';

  create table permission (
    session_id text not null references session (id),
    tool text not null,
    at integer not null,
    primary key (session_id, tool)
  ) strict, without rowid;
  `,
  // 2: side branches, labels, the bin, forks, queue order and held messages, imported files. An entry's or a result's text is stored once: the
  // events `message_end`, `entry` and `tool_end` point to it.
  `
  alter table session add column binned_at integer;
  alter table session add column forked_session text;
  alter table session add column forked_entry text;
  alter table session add column steer_mode text not null default 'one-at-a-time' check (steer_mode in ('one-at-a-time', 'all'));
  alter table session add column follow_up_mode text not null default 'one-at-a-time' check (follow_up_mode in ('one-at-a-time', 'all'));

  create index entry_parent on entry (session_id, parent_id);
  -- what a session holds goes only with the session, and only from the bin
  drop trigger entry_kept;
  drop trigger event_kept;
  create trigger entry_kept before delete on entry
    when (select binned_at from session where id = old.session_id) is null
    begin select raise(abort, 'entries are append-only'); end;
  create trigger event_kept before delete on event
    when (select binned_at from session where id = old.session_id) is null
    begin select raise(abort, 'events are append-only'); end;

  alter table run add column spent text;
  -- the entry that the run's first answer follows
  alter table run add column base text;
  alter table call add column entry_id text;
  alter table approval add column basis text;

  create table inbox_2 (
    id text not null,
    session_id text not null references session (id),
    kind text not null check (kind in ('prompt', 'steer', 'follow-up', 'interrupt')),
    text text not null,
    at integer not null,
    position real not null,
    state text not null check (state in ('queued', 'held', 'taken', 'withdrawn')),
    -- where it is to be said: null follows the run, '' is the root
    parent_id text,
    taken_run text,
    taken_turn integer,
    primary key (session_id, id)
  ) strict;
  insert into inbox_2 (id, session_id, kind, text, at, position, state, taken_run, taken_turn)
    select id, session_id, kind, text, at, at, state, taken_run, taken_turn from inbox;
  drop table inbox;
  alter table inbox_2 rename to inbox;
  create index inbox_waiting on inbox (session_id, position) where state in ('queued', 'held');

  create table label (
    session_id text not null references session (id),
    entry_id text not null references entry (id),
    label text not null,
    at integer not null,
    primary key (session_id, entry_id)
  ) strict, without rowid;

  create table side (
    id text primary key,
    session_id text not null references session (id),
    from_entry text references entry (id),
    home text references entry (id),
    name text not null,
    started_at integer not null,
    ended_at integer,
    ending text check (ending in ('discard', 'keep', 'summary', 'insert'))
  ) strict;
  create index side_open on side (session_id) where ended_at is null;

  -- lines of an imported session file, as they were: what has not changed is written back byte for byte
  create table imported_line (
    session_id text not null references session (id),
    n integer not null,
    -- null for the header and for what is no entry
    entry_id text references entry (id),
    foreign_id text,
    line text not null,
    primary key (session_id, n)
  ) strict, without rowid;
  create unique index imported_entry on imported_line (entry_id) where entry_id is not null;
  `,
  // 3: what a session may do without asking, and the rules that were granted (they take the place of tools that were allowed by name)
  `
  alter table session add column mode text not null default 'ask' check (mode in ('read-only', 'ask', 'workspace', 'trusted'));

  create table granted (
    id text primary key,
    workspace text not null,
    -- null: for every session of the workspace
    session_id text references session (id),
    rule text not null,
    at integer not null,
    revoked_at integer
  ) strict;
  create index granted_holding on granted (workspace) where revoked_at is null;
  insert into granted (id, workspace, session_id, rule, at)
    select permission.session_id || ':' || permission.tool, session.workspace, session.id,
      json_object('verdict', 'allow', 'tool', permission.tool), permission.at
    from permission join session on session.id = permission.session_id;
  drop table permission;
  `,
  // 4: what was there before an effect. Contents lie in pack files beside the database; pack and at say where.
  `
  -- folders that were looked through, and what they held then: the next look reads only what has changed
  create table seen_root (
    id integer primary key,
    path text not null unique,
    used_at integer not null
  ) strict;
  create table seen_file (
    root integer not null references seen_root (id) on delete cascade,
    path text not null,
    node text not null,
    pack integer,
    primary key (root, path)
  ) strict, without rowid;
  create index seen_file_pack on seen_file (pack) where pack is not null;

  create table kept (
    id text primary key,
    session_id text not null references session (id),
    run_id text not null,
    call_id text not null,
    tool text not null,
    workspace text not null,
    -- null: the whole workspace; else the paths as a list
    paths text,
    at integer not null,
    -- open: the effect had not ended when it was stored
    state text not null check (state in ('open', 'done')),
    is_undo integer not null,
    undone_by text references kept (id) on delete set null,
    limits text not null
  ) strict;
  create index kept_session on kept (session_id, at);
  create table kept_change (
    kept_id text not null references kept (id) on delete cascade,
    path text not null,
    before text not null,
    -- null while the effect has not ended
    after text,
    pack integer,
    added integer not null,
    removed integer not null,
    primary key (kept_id, path)
  ) strict, without rowid;
  create index kept_change_pack on kept_change (pack) where pack is not null;
  `
]
