import { isSea } from 'node:sea'

/**
 * Returns the command that starts this same program again: the single executable itself, otherwise the engine
 * with its script.
 */
export function programCommand(engineFlags: readonly string[]): string[] {
  if (isSea()) {
    // The executable takes what NODE_OPTIONS may hold, and refuses to start with the rest.
    const allowed = engineFlags.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag))
    return [
      process.execPath,
      ...(allowed.length === 0 ? [] : [`--node-options=${allowed.join(' ')}`]),
    ]
  }
  const script = process.argv[1]
  if (script === undefined)
    throw new Error('Cannot find the program: it was started without a script')
  // Lite mode has no WebAssembly, which the removal of types from sources needs.
  const flags = script.endsWith('.ts')
    ? engineFlags.filter((flag) => flag !== '--lite-mode')
    : engineFlags
  return [process.execPath, '--disable-warning=ExperimentalWarning', ...flags, script]
}
