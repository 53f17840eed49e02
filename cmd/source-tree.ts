import { ExpectedError, exitCodes } from '@skerry/base'

declare const SKERRY_VERSION: string | undefined

/** For commands that work on the repository itself. ExpectedError in a program that was packed. */
export function requireSourceTree(command: string): void {
  if (typeof SKERRY_VERSION !== 'string') return
  throw new ExpectedError(
    `Cannot run ${command}: it needs the sources, and this is the packed program; clone the repository and run ./skerry ${command} there`,
    exitCodes.usage,
  )
}
