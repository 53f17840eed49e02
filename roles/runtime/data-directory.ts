import { open, readFile, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ExpectedError, exitCodes, makeDirectoryDurably, syncDirectory } from '@skerry/base'

/** Grows by one when a data directory's content changes its meaning. */
const dataFormat = 1

const formatFile = 'format.json'

export const dataDirectoryDefault = '/var/lib/skerry'

/**
 * Creates the directory (mode 0700), or checks that an existing one is ours and has a format that this
 * program reads. The owner of a part migrates its older format; a newer format, or a directory with other
 * content than `restored`, is refused.
 */
export async function openDataDirectory(
  path: string,
  restored: readonly string[] = [],
): Promise<void> {
  try {
    await makeDirectoryDurably(path)
    const found = await readFormat(path)
    if (found === undefined) {
      await refuseForeign(path, restored)
      await writeFileDurably(join(path, formatFile), `${JSON.stringify({ format: dataFormat })}\n`)
    } else if (found > dataFormat) {
      throw new ExpectedError(
        `Cannot open ${path}: its format ${found} is newer than this program's ${dataFormat}; upgrade skerry, or pass another --data-dir`,
        exitCodes.dataDirectory,
      )
    }
  } catch (error) {
    throw explain(error, path)
  }
}

async function readFormat(path: string): Promise<number | undefined> {
  const file = join(path, formatFile)
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const match = /^\{"format":(\d+)\}\s*$/.exec(text)
  if (match) return Number(match[1])
  throw new ExpectedError(
    `Cannot open ${path}: ${file} is damaged; restore the directory from a backup, or run "skerry reset --yes"`,
    exitCodes.dataDirectory,
  )
}

/** Refuses a directory that is not empty and has no format file: a mistyped path must not be written into. */
async function refuseForeign(path: string, restored: readonly string[]): Promise<void> {
  // The last of them is a format file that a power cut left behind.
  const ours = ['lost+found', `${formatFile}.tmp`, ...restored]
  const names = (await readdir(path)).filter((name) => !ours.includes(name))
  if (names.length === 0) return
  throw new ExpectedError(
    `Cannot open ${path}: it holds ${names[0]} and no ${formatFile}, so it is not a skerry data directory or was written half; pass another --data-dir, or empty it`,
    exitCodes.dataDirectory,
  )
}

function explain(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ExpectedError(
        `Cannot write to ${path}: permission denied; run as root`,
        exitCodes.missingRight,
        {
          cause: error,
        },
      )
    case 'ENOSPC':
      return new ExpectedError(
        `Cannot write to ${path}: the disk is full; free some space`,
        exitCodes.diskFull,
        {
          cause: error,
        },
      )
    case 'ENOENT':
      return new ExpectedError(
        `Cannot make ${path}: a symbolic link leads to nothing, or its file system makes no directories; mount the disk, or pass another --data-dir`,
        exitCodes.dataDirectory,
        { cause: error },
      )
    case 'ELOOP':
      return new ExpectedError(
        `Cannot open ${path}: a symbolic link leads in a circle; remove the link`,
        exitCodes.dataDirectory,
        {
          cause: error,
        },
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return new ExpectedError(
        `Cannot open ${path}: it is not a directory`,
        exitCodes.dataDirectory,
        {
          cause: error,
        },
      )
    default:
      return error
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}

/** Writes a file atomically and durably: after a power cut it is the old or the new one, never half of one. */
export async function writeFileDurably(path: string, content: string, mode = 0o600): Promise<void> {
  const temporary = `${path}.tmp`
  await using file = await open(temporary, 'w', mode)
  await file.writeFile(content)
  await file.sync()
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}
