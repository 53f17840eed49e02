import { constants } from 'node:fs'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { EndpointSlice, Service } from '@skerry/api'

/** What a node needs to serve its service network after a reboot with the control plane away. */
export interface ServiceState {
  services: readonly Service[]
  slices: readonly EndpointSlice[]
}

export interface ServiceSnapshot {
  /** Undefined when there is none, or when it does not read: then the node waits for its control plane. */
  load(): Promise<ServiceState | undefined>
  save(state: ServiceState): Promise<void>
}

export function fileSnapshot(path: string): ServiceSnapshot {
  return {
    async load() {
      try {
        return parse(await readFile(path, 'utf8'))
      } catch (error) {
        if (error instanceof SyntaxError) return undefined
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
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

function parse(text: string): ServiceState | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  if (!('format' in value) || value.format !== 1) return undefined
  if (!('services' in value && Array.isArray(value.services))) return undefined
  if (!('slices' in value && Array.isArray(value.slices))) return undefined
  // We wrote these ourselves in save(); the format number vouches for their shape.
  return { services: value.services as Service[], slices: value.slices as EndpointSlice[] }
}
