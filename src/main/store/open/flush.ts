// Waiting for the disk without stopping the program. A commit is safe from the end of this process as soon as it is made; from a power cut it is
// safe when the write-ahead log has reached the disk. SQLite would wait for that inside the commit; here it is asked for beside it, so that the
// model can be reached meanwhile, and what is promised is acknowledged only afterwards.
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

export interface Flush {
  /** Resolves when everything committed before the call is on the disk. Calls that come together share one flush. */
  (): Promise<void>
  close(): void
}

/** `wal`: path of the write-ahead log. It is opened with the first flush, as it exists from the first commit on, and stays the same file. */
export function createFlush(wal: string): Flush {
  let fd: number | undefined
  let going: Promise<void> | undefined
  let next: Promise<void> | undefined
  let closed = false

  const open = (): number => {
    const opened = openSync(wal, 'r+') // Windows flushes only what was opened for writing
    if (process.platform !== 'win32') {
      const folder = openSync(dirname(wal), 'r') // the name of a new file is on the disk when its folder is
      fsyncSync(folder)
      closeSync(folder)
    }
    return opened
  }
  const start = (): Promise<void> => {
    if (closed) return Promise.resolve() // closing wrote the log into the database, and flushed that
    const flushed = new Promise<void>((resolve, reject) => {
      fdatasync((fd ??= open()), (error) => {
        if (going === flushed) going = undefined
        if (error) reject(error)
        else resolve()
      })
    })
    return (going = flushed)
  }
  const flush = (): Promise<void> => {
    if (!going) return start()
    // the flush that goes on may have begun before the newest commit
    next ??= going
      .catch(() => undefined) // told to those who asked for it
      .then(() => {
        next = undefined
        return start()
      })
    return next
  }
  return Object.assign(flush, {
    close: () => {
      closed = true
      const opened = fd
      if (opened === undefined) return
      // a flush that goes on has the file still
      void (going ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => {
          closeSync(opened)
        })
    }
  })
}
