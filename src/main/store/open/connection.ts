import type Database from 'better-sqlite3'

/** An open database; tables prepare their statements on it. */
export type Connection = Database.Database
