// What every table and every way of opening stands on; a file of its own, so that none of them needs another.
import type Database from 'better-sqlite3'

/** An open database; tables prepare their statements on it. */
export type Connection = Database.Database
