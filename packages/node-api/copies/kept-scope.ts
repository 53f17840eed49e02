/** A part of the API that an operator names in advance. */
export interface KeptScope {
  readonly resource: string
  readonly group: string
  /** Empty for all namespaces, and for kinds without. */
  readonly namespace: string
}
