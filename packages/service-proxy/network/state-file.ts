import { constants } from 'node:fs'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Stores the cluster state that a node needs to start while the control plane is away. */
export interface StateFile<T> {
  /**
   * Resolves to undefined if the file is missing or unreadable. The node then waits for its control
   * plane.
   */
  load(): Promise<T | undefined>
  /** Durable when it resolves. An interrupted write leaves the previous state. */
  save(state: T): Promise<void>
}

/** Stores lists of objects under these names. */
export function stateFile<T extends object>(
  path: string,
  names: readonly (keyof T & string)[],
): StateFile<T> {
  return {
    async load() {
      try {
        return parse<T>(await readFile(path, 'utf8'), names)
      } catch (error) {
        if (error instanceof SyntaxError) return undefined
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        if (code === 'ENOENT' || code === 'EISDIR') return undefined
        throw error
      }
    },
    async save(state) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const temporary = `${path}.tmp`
      await using file = await open(temporary, 'w', 0o600)
      await file.writeFile(JSON.stringify({ format: 1, ...state }))
      await file.sync()
      await rename(temporary, path)
      await using directory = await open(dirname(path), constants.O_RDONLY)
      await directory.sync()
    },
  }
}

function parse<T>(text: string, names: readonly string[]): T | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { format, ...state } = value as Record<string, unknown>
  if (format !== 1 || names.some((name) => !Array.isArray(state[name]))) return undefined
  // save() wrote these; the format number guarantees their shape.
  return state as T
}
