import type { DeploymentSpec, ServiceSpec, StatefulSetSpec } from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import type { App } from '../children/app-kind.ts'
import type { GroupPolicyFields } from '../children/group-policy.ts'

type WorkloadSpec = DeploymentSpec | StatefulSetSpec

interface GridSpec {
  /** The label whose values are the units. */
  readonly gridUniqKey?: string
  readonly groupPolicy?: GroupPolicyFields
}

export interface WorkloadGridSpec<Spec extends WorkloadSpec> extends GridSpec {
  readonly template?: Spec
  /** Further templates, by name. */
  readonly templatePool?: Readonly<Record<string, Spec>>
  /** The name of a unit's template, by unit. */
  readonly templates?: Readonly<Record<string, string>>
  /** The template of every other unit: a name of the pool, or `default`, which is `template`. */
  readonly defaultTemplateName?: string
  /** Removes templates from the pool that no unit uses. */
  readonly autoDeleteUnusedTemplate?: boolean
}

export interface WorkloadGrid<Spec extends WorkloadSpec = WorkloadSpec> extends App {
  readonly spec?: WorkloadGridSpec<Spec>
}

export interface ServiceGrid extends App {
  readonly spec?: GridSpec & { readonly template?: ServiceSpec }
}

const group = 'superedge.io'
const version = 'v1'

export const deploymentGrids: KnownResource<WorkloadGrid> = Object.freeze({
  group,
  version,
  resource: 'deploymentgrids',
  kind: 'DeploymentGrid',
  isNamespaced: true,
})

export const statefulSetGrids: KnownResource<WorkloadGrid> = Object.freeze({
  group,
  version,
  resource: 'statefulsetgrids',
  kind: 'StatefulSetGrid',
  isNamespaced: true,
})

export const serviceGrids: KnownResource<ServiceGrid> = Object.freeze({
  group,
  version,
  resource: 'servicegrids',
  kind: 'ServiceGrid',
  isNamespaced: true,
})

/** Labels of children, of SuperEdge. */
export const gridLabels = Object.freeze({
  selector: 'superedge.io/grid-selector',
  key: 'superedge.io/grid-uniq-key',
  hash: 'superedge.io/template-hash-key',
})
