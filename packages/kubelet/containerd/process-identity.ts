import { readFile } from 'node:fs/promises'
import { hasCode } from '../system-error.ts'

/** Identifies a process uniquely: its number alone may be reused after a reboot or by another process. */
export interface PidFile {
  pid: number
  /** The clock ticks since boot at which the process started. */
  startTicks: string
  bootId: string
}

/** Returns an id that changes with every boot of the machine. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}

export async function processIdentity(pid: number): Promise<PidFile> {
  return { pid, startTicks: (await readStart(pid)) ?? '', bootId: await readBootId() }
}

/** False too for a zombie, and for another process that got the same number. */
export async function isRunning(file: PidFile): Promise<boolean> {
  if (file.bootId !== (await readBootId())) return false
  return file.startTicks !== '' && (await readStart(file.pid)) === file.startTicks
}

/** Returns undefined if there is none or a crash damaged it: then nothing can be adopted. */
export async function readPidFile(path: string): Promise<PidFile | undefined> {
  try {
    const content: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isPidFile(content) ? content : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

function isPidFile(content: unknown): content is PidFile {
  if (typeof content !== 'object' || content === null) return false
  const { pid, startTicks, bootId } = content as Partial<PidFile> // each field is tested here
  return typeof pid === 'number' && typeof startTicks === 'string' && typeof bootId === 'string'
}

/** Returns undefined if the process is gone or a zombie. The name, in parentheses, may contain spaces. */
async function readStart(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined
    throw error
  }
}
