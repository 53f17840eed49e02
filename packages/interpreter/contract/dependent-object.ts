import type { LabelSelectorFields } from '@skerry/api'

/** An object that another one cannot run without. */
export interface DependentObject {
  readonly apiVersion: string
  readonly kind: string
  /** Empty: none. */
  readonly namespace: string
  /** One of name and labelSelector. */
  readonly name?: string
  readonly labelSelector?: LabelSelectorFields
}
