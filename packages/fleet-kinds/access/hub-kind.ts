import type { Column, Kind, Schema } from '@skerry/api'
import { hubGroup } from './cluster-access.ts'

const version = 'v1alpha1'

/** The definition of a built-in kind of the hub. Omitted fields are those of most kinds of hub.skerry.io. */
export type HubKind = Pick<
  Kind,
  'kind' | 'resource' | 'singular' | 'schemaName' | 'schemas' | 'columns' | 'strategy'
> &
  Partial<Pick<Kind, 'group' | 'categories' | 'verbs' | 'subresources'>>

/** Completes a cluster-scoped kind for an API server. Its schemas refer to definitions of the built-in kinds. */
export function hubKind(own: HubKind, builtin: readonly Kind[]): Kind {
  const { schemaName } = own
  return {
    group: hubGroup,
    version,
    listKind: `${own.kind}List`,
    isNamespaced: false,
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    storageVersion: version,
    selectableFields: [],
    ...own,
    schemas: { ...builtin[0]?.schemas, [schemaName]: objectSchema(schemaName), ...own.schemas },
  }
}

/** Returns the schema of an object whose spec is `<schemaName>Spec`. */
function objectSchema(schemaName: string): Schema {
  return {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', default: {} },
      spec: { ref: `${schemaName}Spec`, default: {} },
    },
    required: ['spec'],
  }
}

export function textColumn(name: string, cell: Column['cell']): Column {
  const format = name === 'Name' ? 'name' : ''
  return { name, type: 'string', format, description: '', priority: 0, cell }
}
