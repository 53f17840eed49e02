import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import { nodeGroup } from './offline-writes.ts'

/** Why a write that a node had accepted is not, or not only, what the control plane has now. */
export type ConflictReason =
  /** Both sides changed the same place. */
  | 'Clash'
  /** The control plane refused the write. */
  | 'Refused'
  /** The answer to a create was lost, and the object is not there. */
  | 'UnknownOutcome'
  /** The node's record of the write is damaged. */
  | 'Damaged'

export type ConflictSide = 'cloud' | 'edge'

/** A node.skerry.io/v1alpha1 Conflict: a write of a node that was away, with the values of both sides. */
export interface Conflict extends KubeObject {
  spec: ConflictSpec
}

export interface ConflictSpec {
  reason: ConflictReason
  message: string
  nodeName: string
  /** The user who wrote on the node. */
  user: string
  operation: 'create' | 'update' | 'delete'
  object: ConflictObject
  /** The side whose values stand now. */
  winner: ConflictSide
  /** When the node accepted the write, by its own clock. */
  writtenAt: string
  /** When the two sides met. */
  foundAt: string
  fields?: ConflictField[]
  /** The decision of a person. */
  choice?: ConflictChoice
}

export interface ConflictObject {
  apiVersion: string
  kind: string
  resource: string
  namespace: string
  name: string
}

/** The values of one place, each as JSON. A value is omitted if there is none on that side. */
export interface ConflictField {
  /** For people: `.spec.containers[name="app"].image`; `.` is the whole object. */
  path: string
  /** The same in steps, as in FieldsV1. */
  steps?: string[]
  base?: string
  edge?: string
  cloud?: string
}

export interface ConflictChoice {
  side: ConflictSide
  /** Set by the server. */
  user?: string
  /** Set by the server. */
  time?: string
}

export const conflictResource: TypedResource<Conflict> = Object.freeze({
  group: nodeGroup,
  version: 'v1alpha1',
  resource: 'conflicts',
  isNamespaced: false,
})
