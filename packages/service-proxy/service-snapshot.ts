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

const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * The state as it may be by now. The snapshot is as old as the last word from the control plane,
 * often from amid the start of the pods; a service of which no endpoint was ready then would stay
 * refused until that returns. All its endpoints are tried instead, but those that were ending.
 */
export function presumeReady(state: ServiceState): ServiceState {
  const nameOf = ({ metadata }: EndpointSlice): string =>
    `${metadata.namespace}/${metadata.labels?.[serviceNameLabel]}`
  const served = new Set<string>()
  for (const slice of state.slices) {
    const isServed = (slice.endpoints ?? []).some(({ conditions }) => conditions?.ready !== false)
    if (isServed) served.add(nameOf(slice))
  }
  const slices = state.slices.map((slice) => (served.has(nameOf(slice)) ? slice : allReady(slice)))
  return { ...state, slices }
}

function allReady(slice: EndpointSlice): EndpointSlice {
  const endpoints = (slice.endpoints ?? []).map((endpoint) =>
    endpoint.conditions?.terminating === true
      ? endpoint
      : { ...endpoint, conditions: { ...endpoint.conditions, ready: true, serving: true } },
  )
  return { ...slice, endpoints }
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
