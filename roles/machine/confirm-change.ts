import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { ExpectedError, exitCodes } from '@skerry/base'
import { codeOf, writeFileDurably } from '../runtime/data-directory.ts'
import { machineDataDirectory } from './prepare-machine.ts'

/** A change for which a job of the hub awaits a person, as the hub has written it here. */
const changeSchema = z.object({
  job: z.string(),
  name: z.string(),
  work: z.string(),
  cluster: z.string(),
  machine: z.string(),
  scope: z.enum(['cluster', 'machine']),
})

/** How a person decides: not at all, yes, or after a question. */
export type Decision = 'show' | 'yes' | ((question: string) => Promise<boolean>)

/**
 * Shows the change that a job awaits on this machine, and confirms it for the hub to read. Rejects with an ExpectedError
 * if there is none, or the person declines.
 */
export async function confirmChange(
  decision: Decision,
  print: (line: string) => void,
  directory: string = machineDataDirectory,
): Promise<void> {
  const { job, name, work, cluster, machine, scope } = await readChange(directory)
  const where = scope === 'cluster' ? `cluster ${cluster}, its master first` : `machine ${machine}`
  print(plain(`Job ${name}: ${work} on ${where}`))
  if (decision === 'show') return
  if (decision !== 'yes' && !(await decision('Begin with it?'))) {
    throw new ExpectedError('Nothing is confirmed: the hub goes on waiting', exitCodes.failure)
  }
  await writeFileDurably(join(directory, 'confirmation.json'), `${JSON.stringify({ job })}\n`)
  print('Confirmed. The hub begins when it looks the next time, within a minute.')
}

async function readChange(directory: string): Promise<z.infer<typeof changeSchema>> {
  let text: string
  try {
    text = await readFile(join(directory, 'awaited-confirmation.json'), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'EACCES') {
      const hint = 'Cannot read the awaited change: only root may; run the command with sudo'
      throw new ExpectedError(hint, exitCodes.usage, { cause: error })
    }
    if (codeOf(error) !== 'ENOENT') throw error
    throw new ExpectedError('Nothing on this machine waits for a confirmation', exitCodes.usage)
  }
  const read = changeSchema.safeParse(parsed(text))
  if (read.success) return read.data
  const why = 'Cannot read the awaited change: the file is not one that a hub wrote'
  throw new ExpectedError(why, exitCodes.failure)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller says that the file is not ours.
    return undefined
  }
}

function plain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
