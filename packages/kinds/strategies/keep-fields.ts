import type { KubeObject } from '@skerry/api'

interface WithStatus extends KubeObject {
  spec?: unknown
  status?: unknown
}

/** Sets or removes `field` so that `next` has the same value as `old`. */
export function keepField<T extends object>(next: T, old: T, field: keyof T): void {
  if (old[field] === undefined) delete next[field]
  else next[field] = old[field]
}

/**
 * The usual contract: clients write the spec, controllers write the status, each through its own
 * endpoint.
 */
export const statusApart = Object.freeze({
  prepareForCreate(next: WithStatus): void {
    next.status = {}
  },
  prepareForUpdate(next: WithStatus, old: WithStatus): void {
    keepField(next, old, 'status')
  },
  prepareForStatusUpdate(next: WithStatus, old: WithStatus): void {
    keepField(next, old, 'spec')
  },
})
