import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ExpectedError } from '@skerry/base'

/** The ways in which power cuts, disks and people damage a file. Each takes the path of an existing file. */
export const fileDamages: Readonly<Record<string, (path: string) => Promise<void>>> = {
  empty: (path) => writeFile(path, ''),
  cut: async (path) => truncate(path, Math.floor((await readFile(path)).length / 2)),
  garbage: (path) => writeFile(path, 'neither a key nor JSON nor a database, only some text'),
  missing: (path) => rm(path),
  'a directory': async (path) => {
    await rm(path)
    await mkdir(path)
  },
}

export interface DamageTable {
  /** A directory as a sound start leaves it; each case gets a copy. */
  readonly whole: string
  /** Names below `whole`; each is damaged in each way. */
  readonly files: readonly string[]
  /** Starts on the copy; "refused": must reject. The file itself is what a start makes of it. */
  readonly expected: (file: string, damage: string) => 'made again' | 'refused'
  readonly start: (directory: string) => Promise<unknown>
  /** Selects files that a start may write in addition to the damaged one. Default: none. */
  readonly mayChange?: (name: string) => boolean
}

/** Returns a line for each case that ends otherwise than it should; a refusal is one line that names the file. */
export async function failuresOfDamage(table: DamageTable): Promise<string[]> {
  const parent = await mkdtemp(join(tmpdir(), 'skerry-damage-'))
  const failures: string[] = []
  try {
    for (const file of table.files) {
      for (const [damage, inflict] of Object.entries(fileDamages)) {
        const directory = join(parent, 'copy')
        await cp(table.whole, directory, { recursive: true })
        await inflict(join(directory, file))
        const before = await filesBelow(directory)
        const problem = await startProblem(table, { directory, file, damage })
        if (problem !== undefined) failures.push(`${file} ${damage}: ${problem}`)
        const after = await filesBelow(directory)
        for (const [name, text] of before) {
          if (name === file || table.mayChange?.(name)) continue
          if (after.get(name) !== text) failures.push(`${file} ${damage}: changed ${name}`)
        }
        await rm(directory, { recursive: true })
      }
    }
  } finally {
    await rm(parent, { recursive: true })
  }
  return failures
}

async function startProblem(
  { start, expected }: DamageTable,
  { directory, file, damage }: { directory: string; file: string; damage: string },
): Promise<string | undefined> {
  const isRefused = expected(file, damage) === 'refused'
  try {
    await start(directory)
    return isRefused ? 'started' : undefined
  } catch (error) {
    return refusalProblem(error, { isRefused, path: join(directory, file) })
  }
}

/** Returns undefined if the error is one line that names the file and the remedy. */
export function refusalProblem(
  error: unknown,
  { isRefused, path }: { isRefused: boolean; path: string },
): string | undefined {
  if (!isRefused || !(error instanceof ExpectedError)) return String(error)
  const { message } = error
  const isClear = message.includes(path) && message.includes(';') && !message.includes('\n')
  return isClear ? undefined : `unclear: ${message}`
}

async function filesBelow(directory: string): Promise<Map<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return new Map(
    await Promise.all(
      paths.map(async (path) => {
        return [relative(directory, path), await readFile(path, 'latin1')] as const
      }),
    ),
  )
}
