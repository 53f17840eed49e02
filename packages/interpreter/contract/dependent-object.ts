import type { LabelSelectorFields } from '@skerry/api'

/** An object that another one cannot run without. */
export interface DependentObject {
  readonly apiVersion: string
  readonly kind: string
  /** An empty string for cluster-scoped objects. */
  readonly namespace: string
  /** Either name or labelSelector is set. */
  readonly name?: string
  readonly labelSelector?: LabelSelectorFields
}
