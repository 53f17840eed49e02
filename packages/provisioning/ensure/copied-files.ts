import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { MachineContext } from '../contract/step.ts'
import { StepError } from '../contract/step.ts'
import { must } from './commands.ts'

/** The record of files that were copied to a machine, and the files that these have replaced. */
const recordPath = '/var/lib/skerry/copied-files'
/** The part of the record that is being taken back. */
const takenPath = '/var/lib/skerry/files-to-take-back'
const replacedPath = '/var/lib/skerry/replaced-files'

/**
 * Takes back the files of the record that it is given, or else of the machine's: it removes each whose content is still
 * ours, puts the one before it back, and removes directories that were made for them and are empty. It is constant, and
 * needs a POSIX shell.
 */
export const takeBackFilesScript = `
record=${recordPath}
[ -z "$1" ] || record=$1
[ -f "$record" ] || exit 0
while read -r kind value path; do
  case "$kind" in
  file)
    [ -f "$path" ] || continue
    found=$(sha256sum < "$path" | cut -c 1-64)
    if [ "$found" = "$value" ] && rm -f -- "$path"; then echo "removed $path"; fi ;;
  replaced)
    if [ ! -e "$path" ] && mv -T -- "${replacedPath}/$value" "$path"; then echo "restored $path"; fi ;;
  directory)
    rmdir -- "$path" 2>/dev/null ;;
  esac
done < "$record"
exit 0
`

interface Entry {
  readonly kind: 'file' | 'replaced' | 'directory'
  /** The digest of a file's content, the name of a replaced one, or a dash. */
  readonly value: string
  readonly path: string
}

const linePattern = /^(?<kind>file|replaced|directory) (?<value>[0-9a-f]{64}|-) (?<path>\/\S+)$/

/** Returns everything that this machine's record says of files that were copied before. */
async function readRecord({ shell, signal }: MachineContext): Promise<Entry[]> {
  const { exitCode, stdout } = await shell.run(['cat', '--', recordPath], {
    signal,
    keepsFiles: true,
  })
  if (exitCode !== 0) return []
  return stdout.split('\n').flatMap((line) => {
    const { kind, value, path } = linePattern.exec(line)?.groups ?? {}
    if (value === undefined || path === undefined) return []
    if (kind !== 'file' && kind !== 'replaced' && kind !== 'directory') return []
    return [{ kind, value, path }]
  })
}

/**
 * Records that these files are about to be copied, before they are: a machine on which this broke off can be cleaned.
 * A file that is there already and is not ours is kept aside.
 */
export async function recordCopies(
  context: MachineContext,
  files: readonly { readonly path: string; readonly content: Uint8Array }[],
): Promise<void> {
  const entries = await readRecord(context)
  for (const { path, content } of files) {
    const isKnown = entries.some((entry) => entry.kind === 'file' && entry.path === path)
    entries.push({ kind: 'file', value: digestOf(content), path })
    if (isKnown) continue
    const parents = parentsOf(path)
    const present = await presentOf([path, ...parents], context)
    if (present.has(path)) entries.push(await keepAside(path, context))
    const made = parents.filter((each) => !present.has(each))
    entries.push(...made.map((each) => ({ kind: 'directory', value: '-', path: each }) as const))
  }
  await context.shell.write(recordPath, recordText(entries), 0o600)
}

/** Takes back files that were copied before and are not wanted any more, as the cleaning of the machine would. */
export async function takeBackOthers(
  context: MachineContext,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const { shell, print } = context
  const entries = await readRecord(context)
  const isGone = ({ kind, path }: Entry): boolean => kind !== 'directory' && !wanted.has(path)
  if (!entries.some(isGone)) return
  const isLeft = ({ kind, path }: Entry): boolean =>
    kind === 'directory' && ![...wanted].some((each) => each.startsWith(`${path}/`))
  const taken = entries.filter((each) => isGone(each) || isLeft(each))
  await shell.write(takenPath, recordText(taken), 0o600)
  await must(context, ['sh', '-c', takeBackFilesScript, 'sh', takenPath])
  // An attempt that breaks off here is repeated, because the record still has them.
  await must(context, ['rm', '-f', '--', takenPath])
  for (const path of new Set(entries.filter(isGone).map((each) => each.path))) {
    print(`${path}: not in spec.files any more`)
  }
  // A directory that somebody else uses now is tried again when the machine is cleaned.
  const left = entries.filter((each) => !isGone(each))
  await shell.write(recordPath, recordText(left), 0o600)
}

function digestOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Returns the directories of a path from the inner one to the outer ones. */
function parentsOf(path: string): string[] {
  const parent = posix.dirname(path)
  return parent === '/' ? [] : [parent, ...parentsOf(parent)]
}

async function presentOf(
  paths: readonly string[],
  { shell, signal }: MachineContext,
): Promise<ReadonlySet<string>> {
  // Its exit code tells only that one of them lacks.
  const { stdout } = await shell.run(['ls', '-d', '--', ...paths], { signal, keepsFiles: true })
  return new Set(stdout.split('\n'))
}

async function keepAside(path: string, context: MachineContext): Promise<Entry> {
  const { exitCode } = await context.shell.run(['test', '-d', path], {
    signal: context.signal,
    keepsFiles: true,
  })
  if (exitCode === 0) {
    throw new StepError(`spec.files names ${path}, which is a directory`, { isFinal: true })
  }
  const value = digestOf(path)
  await must(context, ['install', '-d', '-m', '0700', '--', replacedPath])
  await must(context, ['cp', '-aT', '--', path, posix.join(replacedPath, value)])
  return { kind: 'replaced', value, path }
}

/** Orders the record as it is read: files, then those before them, then directories from the inside. */
function recordText(entries: readonly Entry[]): string {
  const ranks = { file: 0, replaced: 1, directory: 2 }
  const ordered = entries.toSorted(
    (a, b) => ranks[a.kind] - ranks[b.kind] || b.path.length - a.path.length,
  )
  const lines = ordered.map(({ kind, value, path }) => `${kind} ${value} ${path}\n`)
  return [...new Set(lines)].join('')
}
