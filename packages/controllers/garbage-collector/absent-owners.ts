import type { OwnerReference } from '@skerry/api'
import { controllerBounds } from '../limits-table.ts'

const { entriesMax } = controllerBounds.absentOwners

/** Saves a read for each of the many dependents of one deleted owner. */
export class AbsentOwners {
  readonly #entries = new Set<string>()

  has(reference: OwnerReference, namespace: string): boolean {
    return this.#entries.has(keyOf(reference, namespace))
  }

  add(reference: OwnerReference, namespace: string): void {
    this.#entries.add(keyOf(reference, namespace))
    if (this.#entries.size <= entriesMax) return
    const oldest = this.#entries.values().next()
    if (!oldest.done) this.#entries.delete(oldest.value)
  }
}

function keyOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): string {
  return [apiVersion, kind, namespace, name, uid].join('\n')
}
