import { compareVersions } from './kind-order.ts'
import { customColumns } from './columns/custom-columns.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  Kind,
  Strategy,
  Subresource,
  AnyObject,
  Schema,
  SchemaSet,
} from '@skerry/api'
import { schemaFromCrd } from './schema/crd-schema.ts'

/** The verbs in the order of upstream's discovery. */
const verbs = Object.freeze([
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
])

const subresourceVerbs = Object.freeze(['get', 'patch', 'update'])

/** Upstream defines these once for built-in kinds; custom ones share them. */
const sharedDefinitions = [
  'DeleteOptions',
  'ListMeta',
  'ObjectMeta',
  'Patch',
  'Status',
  'WatchEvent',
]

const scaleSchemaName = 'io.k8s.api.autoscaling.v1.Scale'

/**
 * Returns one kind for each served version of a CRD. `builtinSchemas` are those of built-in kinds,
 * because documents about custom resources refer to some of them (Scale, DeleteOptions, Status, …).
 */
export function kindsOfCustomResource(
  crd: CustomResourceDefinition,
  builtinSchemas: SchemaSet,
): Kind[] {
  const shared = closureOf(
    [
      ...sharedDefinitions.map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`),
      scaleSchemaName,
    ],
    builtinSchemas,
  )
  const storage = crd.spec.versions.find((version) => version.storage)
  return crd.spec.versions
    .filter((version) => version.served)
    .map((version) => kindOfVersion(crd, version, { shared, storage: storage ?? version }))
}

/** Returns `com.example.stable.v1.CronTab`, as upstream names the definition in OpenAPI. */
function customSchemaName(group: string, version: string, kind: string): string {
  return [...group.split('.').toReversed(), version, kind].join('.')
}

function kindOfVersion(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  context: { shared: SchemaSet; storage: CustomResourceDefinitionVersion },
): Kind {
  const accepted = crd.status?.acceptedNames
  const names = accepted?.plural ? accepted : crd.spec.names
  const { group } = crd.spec
  const schemaName = customSchemaName(group, version.name, names.kind)
  return {
    group,
    version: version.name,
    kind: names.kind,
    resource: names.plural,
    singular: names.singular || names.kind.toLowerCase(),
    listKind: names.listKind || `${names.kind}List`,
    isNamespaced: crd.spec.scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs,
    subresources: subresourcesOf(version.subresources, {
      kind: { group, version: version.name, kind: names.kind },
      schemaName,
    }),
    schemaName,
    schemas: { ...context.shared, [schemaName]: rootSchemaOf(version) },
    storageVersion: context.storage.name,
    isCustom: true,
    ...(version.deprecated ? { deprecation: deprecationOf(crd, version) } : {}),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
    columns: customColumns(version.additionalPrinterColumns),
    strategy: version.subresources?.status ? strategyWithStatus : strategyWithoutStatus,
  }
}

function deprecationOf(
  { spec: { group, names, versions } }: CustomResourceDefinition,
  { name, deprecationWarning }: CustomResourceDefinitionVersion,
): string {
  if (deprecationWarning !== undefined) return deprecationWarning
  const newest = versions
    .filter((other) => other.served && !other.deprecated && compareVersions(other.name, name) < 0)
    .toSorted((a, b) => compareVersions(a.name, b.name))[0]
  const instead = newest ? `; use ${group}/${newest.name} ${names.kind}` : ''
  return `${group}/${name} ${names.kind} is deprecated${instead}`
}

/** The metadata that it refers to is among the shared definitions. */
function rootSchemaOf({ schema }: CustomResourceDefinitionVersion): Schema {
  const made = schemaFromCrd(schema?.openAPIV3Schema)
  return made.schemas[made.schemaName] ?? {}
}

function subresourcesOf(
  subresources: CustomResourceSubresources | undefined,
  own: Pick<Subresource, 'kind' | 'schemaName'>,
): Subresource[] {
  const list: Subresource[] = []
  if (subresources?.status) list.push({ name: 'status', ...own, verbs: subresourceVerbs })
  if (subresources?.scale) {
    list.push({
      name: 'scale',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      schemaName: scaleSchemaName,
      verbs: subresourceVerbs,
      scale: subresources.scale,
    })
  }
  return list
}

const strategyWithoutStatus: Strategy = Object.freeze({ hasGeneration: true })

/** With a status subresource, only that writes the status, and nothing else. */
const strategyWithStatus: Strategy = Object.freeze({
  hasGeneration: true,
  prepareForCreate: (next: AnyObject) => {
    delete next['status']
  },
  prepareForUpdate: (next: AnyObject, old: AnyObject) => {
    delete next['status']
    if (old['status'] !== undefined) next['status'] = old['status']
  },
  prepareForStatusUpdate: (next: AnyObject, old: AnyObject) => {
    const { status } = next
    for (const field of Object.keys(next)) if (!isIdentity(field)) delete next[field]
    for (const [field, value] of Object.entries(old)) {
      if (!isIdentity(field)) next[field] = value
    }
    delete next['status']
    if (status !== undefined) next['status'] = status
  },
})

function isIdentity(field: string): boolean {
  return field === 'apiVersion' || field === 'kind' || field === 'metadata'
}

/** Returns these definitions and all that they refer to. */
function closureOf(names: readonly string[], schemas: SchemaSet): SchemaSet {
  const found: Record<string, Schema> = {}
  const visit = (schema: Schema) => {
    if (schema.ref !== undefined) add(schema.ref)
    for (const property of Object.values(schema.properties ?? {})) visit(property)
    if (schema.items) visit(schema.items)
    if (schema.additionalProperties) visit(schema.additionalProperties)
  }
  const add = (name: string) => {
    const schema = schemas[name]
    if (!schema || name in found) return
    found[name] = schema
    visit(schema)
  }
  names.forEach(add)
  return found
}
