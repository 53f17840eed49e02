import type { KubeObject, Node } from '@skerry/api'
import type { KnownResource, ResourceRef, TypedResource } from '@skerry/client'
import type { Group } from '../groups/group.ts'
import type { Child, Refusal, WantedChild } from './child.ts'
import type { GroupState } from './child-plan.ts'
import type { GroupPolicy } from './group-policy.ts'

/** The place of the status that every kind here has, next to what the original has. */
export interface AppStatus {
  readonly groups?: readonly GroupState[]
  readonly observedGeneration?: number
}

export interface App extends KubeObject {
  readonly status?: AppStatus & Readonly<Record<string, unknown>>
}

/** An application as its kind reads it. */
export interface AppReading {
  /** A fault that a person must put right before anything is written; the children stay as they are. */
  readonly problem?: Refusal
  readonly groups: readonly Group[]
  readonly wanted: readonly WantedChild[]
  readonly policy: GroupPolicy
  readonly asksToBelong: (child: Child) => boolean
  readonly groupOf: (child: Child) => string | undefined
  /** Returns true for a child that stays although it is not wanted. If omitted, none does. */
  readonly keeps?: (child: Child) => boolean
  /** A merge patch of the application itself that its spec asks for. */
  readonly ownPatch?: object
}

/** The part of the cluster that an application is read with. */
export interface AppWorld {
  readonly nodes: readonly Node[]
  /** The objects that the application controls. */
  readonly owned: readonly Child[]
  /** Returns any object of a kind of children with this name in the application's namespace. */
  readonly named: (kind: string, name: string) => Child | undefined
  /** Returns the objects of one of the kind's sources. */
  readonly objects: <T extends KubeObject>(source: TypedResource<T>) => readonly T[]
}

export interface StatusView {
  readonly states: readonly GroupState[]
  /** The children that the application has now. */
  readonly children: readonly Child[]
  readonly groupOf: (child: Child) => string | undefined
  readonly nowMs: number
}

export interface CommonSpec {
  readonly spec: unknown
  readonly why: string
}

/** A kind with a child for each group: everything in which the kinds of different systems differ. */
export interface AppKind<T extends App> {
  /** The controller's name, also the source of its events. */
  readonly controller: string
  readonly resource: KnownResource<T>
  /** The kinds of its children. */
  readonly children: readonly KnownResource<Child>[]
  /** The labels of nodes that decide which groups there are. */
  readonly nodeKeys: (app: T) => readonly string[]
  /** Further objects that decide which groups there are: by their names and labels, and by being there. */
  readonly sources?: readonly TypedResource<KubeObject>[]
  readonly read: (app: T, world: AppWorld) => AppReading
  /** Returns the spec that a child has in common with those of other groups, and the reason of its own fields. */
  readonly common?: (app: T, wanted: WantedChild) => CommonSpec | undefined
  /** Returns the reason of an event about a refused child, if the original has one word for all. */
  readonly refusedReason?: (isThere: boolean) => string
  /** Returns the fields of the status that are the original's. */
  readonly statusOf: (app: T, view: StatusView) => Readonly<Record<string, unknown>>
}

/** Returns the same resource with its objects as children. */
export function anyChildren(
  resource: ResourceRef & { readonly kind: string },
): KnownResource<Child> {
  return resource
}
