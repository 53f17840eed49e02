import type { AnyObject, StatusCause, StrategyContext } from '@skerry/api'

/** The rules that Karmada's webhooks add to the schema of a kind. */
export interface KindRules {
  /** Changes an object that is about to be written. It may still be invalid. */
  readonly prepare?: (next: AnyObject, context: StrategyContext, isCreate: boolean) => void
  /** Checks an object that its schema allows; `old` is set for an update. */
  readonly validate?: (next: AnyObject, old?: AnyObject) => StatusCause[]
}

/** A label that only the server sets. An object keeps the one that it was given when it was made. */
export function setPermanentId({ metadata }: AnyObject, label: string, id: string): void {
  metadata.labels = { ...metadata.labels, [label]: id }
}

export function addFinalizer({ metadata }: AnyObject, finalizer: string): void {
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), finalizer])]
}
