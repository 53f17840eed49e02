import { readFile, readdir, readlink, stat } from 'node:fs/promises'

export interface FoundProcess {
  readonly pid: number
  /** The command line, program first. */
  readonly words: readonly string[]
}

/**
 * Returns the processes of this user whose command line matches. The same path in another mount namespace is
 * another node's file, so processes there are left out.
 */
export async function findProcesses(
  matches: (words: readonly string[]) => boolean,
): Promise<FoundProcess[]> {
  const found: FoundProcess[] = []
  const ownNamespace = await mountNamespaceOf('self')
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const words = await commandLineOf(name)
    if (!matches(words)) continue
    if ((await mountNamespaceOf(name)) !== ownNamespace) continue
    if ((await userOf(name)) === process.geteuid?.()) found.push({ pid: Number(name), words })
  }
  return found
}

/** Returns none if the process is gone. */
async function commandLineOf(process: string): Promise<string[]> {
  const text = await readFile(`/proc/${process}/cmdline`, 'utf8').catch(() => '')
  return text.split('\0').slice(0, -1)
}

/** Returns an empty string if the process is gone. */
async function mountNamespaceOf(process: string): Promise<string> {
  return readlink(`/proc/${process}/ns/mnt`).catch(() => '')
}

/** Returns undefined if the process is gone. */
async function userOf(process: string): Promise<number | undefined> {
  return stat(`/proc/${process}`).then(
    ({ uid }) => uid,
    () => undefined,
  )
}
