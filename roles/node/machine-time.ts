import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { asError } from '@skerry/base'
import { clockStart, openTimeFloor, type TimeFloor } from '@skerry/bootstrap'
import { validityOf } from '@skerry/pki'
import { pkiDirectory } from '../runtime/node-identity.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { nodeBounds } from './limits-table.ts'

const execute = promisify(execFile)

const { setMs } = nodeBounds.machineTime

/**
 * Opens the time that this machine knew last. A machine without a clock starts at the beginning of an era, before this
 * program existed: it gets that time.
 */
export async function openMachineTime(
  options: { dataDir: string },
  { clock, log }: Pick<RoleContext, 'clock' | 'log'>,
): Promise<TimeFloor> {
  const path = join(options.dataDir, 'time.json')
  const earliestMs = await certificateBeginMs(options)
  const time = await openTimeFloor({ path, earliestMs }, { clock, log })
  const startMs = clockStart(Date.now(), time.reckonedMs())
  if (startMs === undefined) return time
  try {
    await execute('date', ['--utc', '--set', `@${Math.floor(startMs / 1000)}`], { timeout: setMs })
    log.info('Clock was at no possible time, and is set to the last one known', {
      time: new Date(startMs).toISOString(),
    })
  } catch (error) {
    log.error('Clock is at no possible time: set it', { error: asError(error) })
  }
  return time
}

/** Returns a time that has passed for sure, or 0: the site's clock made the node's certificate. */
async function certificateBeginMs(options: { dataDir: string }): Promise<number> {
  try {
    const pem = await readFile(join(pkiDirectory(options), 'kubelet-client.crt'), 'utf8')
    return validityOf(pem).notBeforeMs
  } catch {
    // A node that has not joined knows no time; the code that needs a damaged certificate reports it.
    return 0
  }
}
