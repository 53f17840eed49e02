import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectoryDurably, syncDirectory } from '@skerry/base'

/** Stores the cluster state that a node needs to start while the control plane is away. */
export interface StateFile<T> {
  /**
   * Resolves to undefined if the file is missing, unreadable or not as it was written. The node then waits for its
   * control plane.
   */
  load(): Promise<T | undefined>
  /** Durable when it resolves. An interrupted write leaves the previous state. */
  save(state: T): Promise<void>
}

/** Stores lists of objects under these names: a line with the SHA-256 of the rest, then the JSON. */
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
      await makeDirectoryDurably(dirname(path))
      const temporary = `${path}.tmp`
      await using file = await open(temporary, 'w', 0o600)
      const json = JSON.stringify({ format: 2, ...state })
      await file.writeFile(`${checksum(json)}\n${json}`)
      await file.sync()
      await rename(temporary, path)
      await syncDirectory(dirname(path))
    },
  }
}

function parse<T>(text: string, names: readonly string[]): T | undefined {
  // Files of format 1 have no checksum.
  const jsonAt = text.startsWith('{') ? 0 : text.indexOf('\n') + 1
  const json = text.slice(jsonAt)
  if (jsonAt > 0 && text.slice(0, jsonAt - 1) !== checksum(json)) return undefined
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null) return undefined
  const { format, ...state } = value as Record<string, unknown>
  if (format !== (jsonAt > 0 ? 2 : 1) || names.some((name) => !Array.isArray(state[name])))
    return undefined
  // save() wrote these; the format number guarantees their shape.
  return state as T
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex')
}
