import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'

/** Throws ExpectedError. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = messageOf(error)
    throw new ExpectedError(`Cannot read ${path}: ${reason}`, exitCodes.failure, { cause: error })
  }
}

export function wrongUse(reason: string): ExpectedError {
  return new ExpectedError(`Cannot start: ${reason}`, exitCodes.usage)
}
