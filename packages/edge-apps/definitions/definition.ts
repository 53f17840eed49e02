import type { CustomResourceDefinition, JSONSchemaProps } from '@skerry/api'

export interface DefinedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly spec: JSONSchemaProps
  readonly status: JSONSchemaProps
  /** The columns of kubectl get: the name, the type and the path of each. */
  readonly columns: readonly (readonly [name: string, type: string, path: string])[]
}

/** Marks the definitions that this program made, and may take away. */
export const ownerLabel = 'edge.skerry.io/edge-apps'

export function definitionOf(defined: DefinedKind): CustomResourceDefinition {
  const { group, version, kind, plural, shortNames, scope, spec, status, columns } = defined
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [ownerLabel]: 'true' } },
    spec: {
      group,
      scope,
      names: {
        kind,
        plural,
        listKind: `${kind}List`,
        singular: kind.toLowerCase(),
        shortNames: [...shortNames],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map(([name, type, jsonPath]) => ({
            name,
            type,
            jsonPath,
          })),
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec, status } },
          },
        },
      ],
    },
  }
}
