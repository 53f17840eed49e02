import { posix } from 'node:path'
import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { ask, must, places } from './commands.ts'
import { backupsDirectory, exists, jobFiles, machineSeconds } from './job-files.ts'
import { wantedProgram } from './program-on-machine.ts'

const { backupMsMax, backupSecondsMax, backupsKept } = edgeJobBounds

/**
 * Copies the store of a running site, and refuses a program that cannot read it. The copy of a store in etcd is a snapshot
 * of that. A roll-back never restores it: other masters and clients write there, and its keys have no schema to migrate.
 */
export function backupStore(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { backup, schema } = jobFiles(order)
    if (!(await isRecent(context, backup))) {
      const next = `${backup}.next`
      await must(context, ['rm', '-f', '--', next])
      await must(context, [places.program, 'backup', next, '--data-dir', `${places.data}/site`], {
        timeoutMs: backupMsMax,
      })
      await must(context, ['mv', '-fT', '--', next, backup])
    }
    if (await isOfEtcd(context, backup)) {
      await context.shell.write(schema, 'etcd\n', 0o600)
      await removeOldBackups(context, posix.basename(backup))
      return `${backup}, a snapshot of etcd`
    }
    const present = await schemaOf(context, backup)
    const wanted = await schemaOfProgram(order, context)
    if (wanted < present) {
      const text = `the store has schema version ${present}, and this program knows ${wanted}: choose a newer program`
      throw new StepError(text, { isFinal: true })
    }
    await context.shell.write(schema, `${present} ${wanted}\n`, 0o600)
    await removeOldBackups(context, posix.basename(backup))
    const note = wanted > present ? `; the program migrates schema ${present} to ${wanted}` : ''
    return `${backup}${note}`
  }
}

/** A snapshot of etcd is a bbolt file, whose first page has this number at byte 16. */
async function isOfEtcd(context: MachineContext, path: string): Promise<boolean> {
  const command = ['od', '-An', '-tx1', '-j16', '-N4', '--', path] as const
  return (await ask(context, command)).trim() === 'ed da 0c ed'
}

async function isRecent(context: MachineContext, path: string): Promise<boolean> {
  if (!(await exists(context, path))) return false
  const text = (await ask(context, ['stat', '-c', '%Y', '--', path])).trim()
  return (await machineSeconds(context)) - Number(text) < backupSecondsMax
}

/** A backup is a whole SQLite file; its header has the schema version in bytes 60 to 63, the highest first. */
async function schemaOf(context: MachineContext, path: string): Promise<number> {
  const command = ['od', '-An', '-tu1', '-j60', '-N4', '--', path] as const
  const bytes = (await ask(context, command)).trim().split(/\s+/).map(Number)
  const version = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  if (bytes.length === 4 && Number.isSafeInteger(version) && version > 0) return version
  throw new StepError(`${path} is not the backup of a store`)
}

async function schemaOfProgram(order: JobOrder, context: MachineContext): Promise<number> {
  const { launcher } = await wantedProgram(order, context)
  const told = await ask(context, [launcher, 'machine', 'store-schema'])
  if (/^\d{1,6}$/.test(told.trim())) return Number(told)
  const text = 'the new program does not say which stores it reads'
  throw new StepError(text, { isFinal: true })
}

/** Keeps the newest ones. Only names that this file gives are touched. */
async function removeOldBackups(context: MachineContext, own: string): Promise<void> {
  const listed = await ask(context, ['ls', '-1t', '--', backupsDirectory])
  const names = listed.split('\n').filter((name) => /^[0-9a-f-]{8,64}\.db$/.test(name))
  const others = names.filter((name) => name !== own).slice(backupsKept - 1)
  for (const name of others) {
    await must(context, ['rm', '-f', '--', posix.join(backupsDirectory, name)])
  }
}
