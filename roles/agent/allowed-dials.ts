import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { parseAllowedDial, type AllowedDial } from '@skerry/fleet-kinds'
import { codeOf } from '../runtime/data-directory.ts'
import { namesIn } from '../runtime/files.ts'
import { agentBounds } from './limits-table.ts'

/** The addresses that the hub may dial through an agent. */
export interface DialOptions {
  /** Default: none. */
  readonly addresses?: readonly AllowedDial[]
  /** A directory whose files have a further address on each line. They are read again at each dial. */
  readonly directory?: string | undefined
}

const { filesMax, bytesMax } = agentBounds.allowedDials

/** Resolves with the addresses that are allowed now. Throws an ExpectedError that names the file that is wrong. */
export async function readAllowedDials({
  addresses = [],
  directory,
}: DialOptions): Promise<readonly AllowedDial[]> {
  if (directory === undefined) return addresses
  // A directory that is not there allows nothing.
  const names = (await namesIn(directory)).filter((name) => !name.startsWith('.'))
  if (names.length > filesMax) throw wrong(directory, `it has more than ${filesMax} files`)
  const found = names.map((name) => readDials(join(directory, name)))
  return [...addresses, ...(await Promise.all(found)).flat()]
}

async function readDials(path: string): Promise<AllowedDial[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // It was taken away since the directory was listed.
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  })
  if (text.length > bytesMax) throw wrong(path, `it has more than ${bytesMax} bytes`)
  const lines = text.split('\n').map((line) => line.trim())
  return lines.flatMap((line, at) => {
    if (line === '' || line.startsWith('#')) return []
    const dial = parseAllowedDial(line)
    if (dial === undefined) throw wrong(path, `line ${at + 1} is not <address>[/<bits>]:<port>`)
    return [dial]
  })
}

function wrong(path: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot read allowed addresses: ${path}: ${why}`, exitCodes.usage)
}
