import type { AnyObject } from '@skerry/api'

/** Between a served version and the stored one, in place; apiVersion is the caller's. */
export interface Conversion {
  readonly toStorage: (object: AnyObject) => void
  readonly fromStorage: (object: AnyObject) => void
}

/** Keyed `apiVersion/Kind`. Versions that differ in nothing but apiVersion need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = Object.freeze({})
