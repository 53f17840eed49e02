import { readFile, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import type { ExpectedError } from '@skerry/base'
import { codeOf, writeFileDurably } from './data-directory.ts'

/** A process, distinguished from a later one with the same number. */
interface ProcessMark {
  pid: number
  /** The clock ticks after boot at which it started. */
  startTicks: string
}

/** Takes the lock, or throws what `refusal` makes of its holder. A lock whose process is gone is taken over. */
export async function takeLock(
  path: string,
  refusal: (holder: number) => ExpectedError,
): Promise<AsyncDisposable> {
  const holder = await lockHolder(path)
  if (holder !== undefined) throw refusal(holder)
  await writeFileDurably(path, JSON.stringify(markOf(process.pid)))
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
}

/** The pid of the living process that holds the lock. */
export async function lockHolder(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  })
  const match = /^\{"pid":(\d+),"startTicks":"(\d+)"\}$/.exec(text)
  if (match === null) return undefined
  const pid = Number(match[1])
  return startTicksOf(pid) === match[2] ? pid : undefined
}

function markOf(pid: number): ProcessMark {
  return { pid, startTicks: startTicksOf(pid) ?? '' }
}

/** Returns field 22 of /proc/<pid>/stat; undefined if there is no such process, or only its zombie. */
function startTicksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command in parentheses may hold spaces: count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}
