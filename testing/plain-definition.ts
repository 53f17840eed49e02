import type { CustomResourceDefinition } from '@skerry/api'

export interface PlainNames {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly scope: 'Cluster' | 'Namespaced'
}

/** Returns a CustomResourceDefinition with one version, v1, whose objects may have any shape. */
export function plainDefinition({ group, plural, kind, scope }: PlainNames) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  } satisfies CustomResourceDefinition
}
