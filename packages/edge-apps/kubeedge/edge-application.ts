import type { ImageChange, JsonObject, LabelSelectorFields } from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import type { App } from '../children/app-kind.ts'
import type { GroupPolicyFields } from '../children/group-policy.ts'

/** KubeEdge's EdgeApplication: manifests that each group of nodes gets with differences of its own. */
export interface EdgeApplication extends App {
  readonly spec?: {
    readonly workloadTemplate?: { readonly manifests?: readonly JsonObject[] }
    readonly workloadScope?: {
      readonly targetNodeGroups?: readonly TargetGroup[]
      readonly targetNodeLabels?: readonly TargetLabels[]
    }
    readonly groupPolicy?: EdgeApplicationPolicy
  }
}

interface EdgeApplicationPolicy extends GroupPolicyFields {
  /** The kinds that each group has a child of. Default: Deployment, as in KubeEdge. Objects of other kinds exist once. */
  readonly kindsPerGroup?: readonly string[]
}

interface TargetGroup {
  readonly name: string
  readonly overriders?: Overriders
}

interface TargetLabels {
  readonly labelSelector?: LabelSelectorFields
  readonly overriders?: Overriders
}

/** The differences of one group. */
export interface Overriders {
  readonly replicas?: number
  readonly imageOverriders?: readonly (ImageChange & { readonly predicate?: { path: string } })[]
  readonly envOverriders?: readonly EnvOverrider[]
  readonly commandOverriders?: readonly WordsOverrider[]
  readonly argsOverriders?: readonly WordsOverrider[]
  readonly resourcesOverriders?: readonly { containerName: string; value: JsonObject }[]
}

export interface EnvOverrider {
  readonly containerName: string
  readonly operator: 'add' | 'remove' | 'replace'
  readonly value?: readonly JsonObject[]
}

export interface WordsOverrider {
  readonly containerName: string
  readonly operator: 'add' | 'remove'
  readonly value?: readonly string[]
}

export const edgeApplications: KnownResource<EdgeApplication> = Object.freeze({
  group: 'apps.kubeedge.io',
  version: 'v1alpha1',
  resource: 'edgeapplications',
  kind: 'EdgeApplication',
  isNamespaced: true,
})
