import type { JsonObject } from '@skerry/api'
import { virtualNamespaceLabels } from '@skerry/fleet-kinds'

const clusterLabel = virtualNamespaceLabels.cluster

export interface Matched {
  readonly apiGroup?: string
  readonly resources: readonly string[]
  readonly operations: readonly string[]
  /** Default: all. Namespace selectors do not restrict objects without a namespace. */
  readonly scope?: 'Namespaced'
}

export function matching(...rules: readonly Matched[]): JsonObject {
  return {
    resourceRules: rules.map(({ apiGroup = '', resources, operations, scope = '*' }) => ({
      apiGroups: [apiGroup],
      apiVersions: ['*'],
      resources,
      operations,
      scope,
    })),
  }
}

export const inVirtualClusters = { matchExpressions: [{ key: clusterLabel, operator: 'Exists' }] }
export const owner = {
  name: 'cluster',
  expression: `namespaceObject.metadata.labels['${clusterLabel}']`,
}

/** Returns a CEL expression: whether the requester may update the virtual cluster of that name. */
export function mayUpdate(cluster: string): string {
  return `authorizer.group('edge.skerry.io').resource('virtualclusters').name(${cluster}).check('update').allowed()`
}

export const mayUpdateOwner = mayUpdate('variables.cluster')

/**
 * Returns a CEL expression: whether the requester may change such objects in every namespace, as controllers
 * of the edge do.
 */
export function mayUpdateEverywhere(group: string, resource: string, subresource = ''): string {
  const below = subresource === '' ? '' : `.subresource('${subresource}')`
  return `authorizer.group('${group}').resource('${resource}')${below}.check('update').allowed()`
}
