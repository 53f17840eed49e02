import type { NodeSelectorRequirement } from '@skerry/api'

/** A place where an application runs with pods of its own. */
export interface Group {
  /** The value that names it, e.g. of a label; not always a name of Kubernetes. */
  readonly name: string
  /** The labels by which its pods find its nodes. */
  readonly nodeSelector: Readonly<Record<string, string>>
  /** Further requirements, of a group that is not the value of a label. */
  readonly requirements?: readonly NodeSelectorRequirement[]
  readonly nodes: number
  readonly readyNodes: number
}
