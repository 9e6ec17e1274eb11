import { z } from 'zod'
import type { Tool } from '../../loop/tool'
import type { Jobs } from './jobs'

const Arguments = z.strictObject({
  id: z.string().optional(),
  stop: z.boolean().optional(),
  lines: z.number().int().min(1).max(1_000).optional()
})

/** Lists the background jobs of a session, reads one, or stops it. */
export function jobsTool(jobs: Jobs): Tool<z.infer<typeof Arguments>> {
  return {
    name: 'jobs',
    description: 'Background jobs: list; with id read or stop.',
    label: 'readonly',
    replay: 'safe',
    parameters: Arguments,
    async execute({ id, stop, lines = 200 }, { sessionId }) {
      const own = jobs.list().filter((job) => job.sessionId === sessionId)
      if (id === undefined) {
        const all = own.map(
          (job) => `${job.id} ${job.state}${job.exitCode === undefined ? '' : ` ${String(job.exitCode)}`}: ${job.command.slice(0, 200)}`
        )
        return { code: 'ok', text: all.join('\n') || 'There are no background jobs.' }
      }
      if (!own.some((job) => job.id === id)) return { code: 'not_found', text: `There is no job ${id} in this session.` }
      if (stop) await jobs.stop(id)
      const read = jobs.read(id, lines)
      return { code: 'ok', text: `[${read?.job.state ?? 'ended'}]\n${read?.text ?? ''}` }
    }
  }
}
