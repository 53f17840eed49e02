import type { AnyObject } from '@skerry/api'
import type { DependentObject } from '../contract/dependent-object.ts'
import type { InterpretedReplicas } from '../contract/resource-interpreter.ts'

/** The rules of a kind that Kubernetes itself does not have. */
export interface KnownKind {
  readonly health?: (object: AnyObject) => boolean
  readonly replicas?: {
    readonly of: (object: AnyObject) => InterpretedReplicas
    /** The path of the count. */
    readonly path: readonly string[]
  }
  /** If omitted, the whole status is reported, and the copies' statuses are not combined. */
  readonly status?: StatusFields
  /** The fields that the cluster decides, kept from the observed object. */
  readonly retained?: readonly (readonly string[])[]
  readonly dependencies?: (object: AnyObject) => DependentObject[]
}

/** The fields of a status, by how those of several copies become one. */
export interface StatusFields {
  /** Added up. */
  readonly counts?: readonly string[]
  /** Counts that are summed if any copy has one. */
  readonly optionalCounts?: readonly string[]
  /** The value of the last copy that has one; empty if none has. */
  readonly texts?: readonly string[]
  /** The same, but the previous value stays if none has. */
  readonly lastingTexts?: readonly string[]
  /** The same of objects; left out when none has. */
  readonly objects?: readonly string[]
  /** Whether there are conditions, which are combined by type, status and reason. */
  readonly hasConditions?: boolean
  /** Fields that are reported, but not combined. */
  readonly ofOneCopy?: readonly string[]
}

/** The rules by apiVersion and kind, as `kindKey` writes them. */
export type KnownKinds = Readonly<Record<string, KnownKind>>
