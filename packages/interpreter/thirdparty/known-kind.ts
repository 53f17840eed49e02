import type { AnyObject } from '@skerry/api'
import type { DependentObject } from '../contract/dependent-object.ts'
import type { InterpretedReplicas } from '../contract/resource-interpreter.ts'

/** What is known of a kind that Kubernetes itself does not have. */
export interface KnownKind {
  readonly health?: (object: AnyObject) => boolean
  readonly replicas?: {
    readonly of: (object: AnyObject) => InterpretedReplicas
    /** Where the count stands. */
    readonly path: readonly string[]
  }
  /** Absent: the whole status goes back, and that of copies is not put together. */
  readonly status?: StatusFields
  /** What the cluster decides on: kept from what is there. */
  readonly retained?: readonly (readonly string[])[]
  readonly dependencies?: (object: AnyObject) => DependentObject[]
}

/** The fields of a status, by how those of several copies become one. */
export interface StatusFields {
  /** Added up. */
  readonly counts?: readonly string[]
  /** Added up where any copy has one. */
  readonly optionalCounts?: readonly string[]
  /** The last copy that has one says it; empty when none has. */
  readonly texts?: readonly string[]
  /** The same; what stood there stays when none has. */
  readonly lastingTexts?: readonly string[]
  /** The same of objects; left out when none has. */
  readonly objects?: readonly string[]
  /** Whether there are conditions, which are put together by type, status and reason. */
  readonly hasConditions?: boolean
  /** They go back, and no further. */
  readonly ofOneCopy?: readonly string[]
}

/** By apiVersion and kind, as `kindKey` writes them. */
export type KnownKinds = Readonly<Record<string, KnownKind>>
