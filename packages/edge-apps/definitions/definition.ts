import type { CustomResourceDefinition, JSONSchemaProps, KubeObject } from '@skerry/api'
import type { KnownResource } from '@skerry/client'

export interface DefinedKind {
  readonly resource: KnownResource<KubeObject>
  /** Versions that are served as well, with the fields of this one. Default: none. */
  readonly olderVersions?: readonly string[]
  /** Default: none. */
  readonly shortNames?: readonly string[]
  readonly spec: JSONSchemaProps
  readonly status: JSONSchemaProps
  /** The columns of kubectl get: the name, the type and the path of each. */
  readonly columns: readonly (readonly [name: string, type: string, path: string])[]
}

/** Marks the definitions that this program made, and may take away. */
export const ownerLabel = 'edge.skerry.io/edge-apps'

export function definitionOf(defined: DefinedKind): CustomResourceDefinition {
  const { resource, olderVersions = [], shortNames = [], spec, status, columns } = defined
  const { group, version, kind, resource: plural, isNamespaced } = resource
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [ownerLabel]: 'true' } },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind,
        plural,
        listKind: `${kind}List`,
        singular: kind.toLowerCase(),
        shortNames: [...shortNames],
      },
      versions: [version, ...olderVersions].map((each) => ({
        name: each,
        served: true,
        storage: each === version,
        subresources: { status: {} },
        additionalPrinterColumns: columns.map(([name, type, jsonPath]) => ({
          name,
          type,
          jsonPath,
        })),
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      })),
    },
  }
}
