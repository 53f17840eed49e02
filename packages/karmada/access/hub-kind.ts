import type { Column, Kind, Schema, Strategy } from '@skerry/api'
import { hubGroup } from './cluster-access.ts'

const version = 'v1alpha1'

/** What a kind of hub.skerry.io says of itself. */
export interface HubKind {
  readonly kind: string
  readonly resource: string
  readonly singular: string
  readonly schemaName: string
  readonly schemas: Readonly<Record<string, Schema>>
  readonly columns: readonly Column[]
  readonly strategy: Strategy
}

/** As an API server serves it: of the whole hub, without subresources. It refers to definitions of the built-in ones. */
export function hubKind(own: HubKind, builtin: readonly Kind[]): Kind {
  const { schemaName } = own
  return {
    ...own,
    group: hubGroup,
    version,
    listKind: `${own.kind}List`,
    isNamespaced: false,
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    schemas: { ...builtin[0]?.schemas, [schemaName]: objectSchema(schemaName), ...own.schemas },
    storageVersion: version,
    selectableFields: [],
  }
}

/** Its spec is `<schemaName>Spec`. */
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
