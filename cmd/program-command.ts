import { isSea } from 'node:sea'

/**
 * The command that starts this same program again: the single executable by itself, otherwise the
 * engine with the script it was started with.
 */
export function programCommand(engineFlags: readonly string[]): string[] {
  if (isSea()) {
    if (engineFlags.length === 0) return [process.execPath]
    return [process.execPath, `--node-options=${engineFlags.join(' ')}`]
  }
  const script = process.argv[1]
  if (script === undefined)
    throw new Error('Cannot find the program: it was started without a script')
  return [process.execPath, '--disable-warning=ExperimentalWarning', ...engineFlags, script]
}
