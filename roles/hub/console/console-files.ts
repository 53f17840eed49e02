import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { getRawAsset, isSea } from 'node:sea'
import type { ReadConsoleFile } from '@skerry/console-api'
import { codeOf } from '../../runtime/data-directory.ts'

/**
 * Reads the console's files next to the bundle from which the program runs, or inside the single executable. `directory`
 * takes their place.
 */
export function readConsoleFiles(directory = besideBundle()): ReadConsoleFile {
  if (directory === undefined) return async (path) => (isSea() ? assetOf(path) : undefined)
  return async (path) => {
    try {
      return await readFile(join(directory, path))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** Returns undefined in the executable, and if the program runs from its sources. */
function besideBundle(): string | undefined {
  const entry = process.argv[1] ?? ''
  const isBundle = !isSea() && basename(entry) === 'skerry.mjs'
  return isBundle ? join(dirname(entry), 'console') : undefined
}

function assetOf(path: string): Uint8Array | undefined {
  try {
    return new Uint8Array(getRawAsset(`console/${path}`))
  } catch (error) {
    if (codeOf(error) === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined
    throw error
  }
}
