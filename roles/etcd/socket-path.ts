import type { Stats } from 'node:fs'
import { lstat, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { codeOf } from '../runtime/data-directory.ts'

/**
 * Makes way for a socket: a killed process leaves its own behind. Throws ExpectedError if the path is that of anything
 * else, or of a socket at which somebody answers, and leaves it alone.
 */
export async function clearSocketPath(path: string, option: string): Promise<void> {
  const found = await lookAt(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new ExpectedError(
      `Cannot listen on unix://${path}: there is something else than a socket; pass another ${option}, or remove it`,
      exitCodes.usage,
    )
  }
  if (await answersAt(path)) {
    throw new ExpectedError(
      `Cannot listen on unix://${path}: another process serves there; stop it, or pass another ${option}`,
      exitCodes.portTaken,
    )
  }
  await rm(path, { force: true })
}

/** Throws ExpectedError if the directory of the path is missing: listening there reports a lack of rights. */
async function lookAt(path: string): Promise<Stats | undefined> {
  try {
    await stat(dirname(path))
    return await lstat(path)
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
    if (!isMissing) throw error
    if (error instanceof Error && 'path' in error && error.path === path) return undefined
    throw new ExpectedError(
      `Cannot listen on unix://${path}: there is no directory ${dirname(path)}; make it first`,
      exitCodes.usage,
      { cause: error },
    )
  }
}

/** The kernel answers at once, whether the process behind the socket does anything or not. */
function answersAt(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => {
      resolve(codeOf(error) !== 'ECONNREFUSED' && codeOf(error) !== 'ENOENT')
    })
  })
}
