import { posix } from 'node:path'
import { StepError, type JobOrder, type OwnMachineContext } from '../contract/step.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { ask, must, places } from './commands.ts'

type OnMachine = Pick<OwnMachineContext, 'shell' | 'print' | 'signal'>

/** The files that a job leaves on a machine. Everything that a roll-back needs is there, and nowhere else. */
export interface JobFiles {
  /** The directory of all files of this job. */
  readonly home: string
  /** The launcher as it was before the job. */
  readonly launcher: string
  /** The machine's time, in seconds, just before its roles were started again. */
  readonly since: string
  /** The schema versions of the store: before, and of the new program. */
  readonly schema: string
  /** Exists when the backup was restored. */
  readonly restored: string
  /** The copy of the site's store. */
  readonly backup: string
  /** The note about the package before the job's, and its key; or that there was none. */
  readonly packageRecord: string
  readonly packageKey: string
  readonly hadNoPackage: string
}

/** Copies of the store. The site itself writes them, which may write nowhere else. */
export const backupsDirectory = `${places.data}/site/backups`
export const jobsDirectory = `${places.data}/jobs`

export function jobFiles({ job }: JobOrder): JobFiles {
  const { uid = '' } = job.metadata
  if (!/^[0-9a-f-]{8,64}$/.test(uid))
    throw new Error(`Cannot name the files of job: odd uid ${uid}`)
  const home = posix.join(jobsDirectory, uid)
  const at = (name: string): string => posix.join(home, name)
  return {
    home,
    launcher: at('launcher'),
    since: at('since'),
    schema: at('schema'),
    restored: at('restored'),
    backup: posix.join(backupsDirectory, `${uid}.db`),
    packageRecord: at('package.json'),
    packageKey: at('package.pub'),
    hadNoPackage: at('no-package'),
  }
}

export async function exists({ shell, signal }: OnMachine, path: string): Promise<boolean> {
  return (await shell.run(['test', '-e', path], { signal, keepsFiles: true })).exitCode === 0
}

/** Reads a small file. Resolves with undefined if there is none, and with an empty text for an empty one. */
export async function readSmall(context: OnMachine, path: string): Promise<string | undefined> {
  const { shell, signal } = context
  const { exitCode, stdout: text } = await shell.run(['cat', '--', path], {
    signal,
    keepsFiles: true,
  })
  if (exitCode !== 0) {
    if (!(await exists(context, path))) return undefined
    throw new StepError(`${path} on the machine cannot be read`)
  }
  if (text.length <= edgeJobBounds.answerCharsMax) return text
  throw new StepError(`${path} on the machine is larger than a file of ours`, { isFinal: true })
}

/** Copies a file once: a repetition after a crash finds what the first attempt has kept. */
export async function keepOnce(context: OnMachine, from: string, to: string): Promise<void> {
  if (await exists(context, to)) return
  const next = `${to}.skerry-new`
  await must(context, ['install', '-D', '-m', '0700', '--', from, next])
  await must(context, ['mv', '-fT', '--', next, to])
}

/** Puts a file in the place of another, whole or not at all. */
export async function putBack(
  context: OnMachine,
  { from, to, mode }: { readonly from: string; readonly to: string; readonly mode: string },
): Promise<void> {
  const next = `${to}.skerry-new`
  await must(context, ['install', '-D', '-m', mode, '--', from, next])
  await must(context, ['mv', '-fT', '--', next, to])
}

/** Returns the machine's time in seconds: its node reports by it. */
export async function machineSeconds(context: OnMachine): Promise<number> {
  const text = (await ask(context, ['date', '+%s'])).trim()
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new StepError('the machine does not say what time it is')
}
