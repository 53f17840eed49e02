import { groupVersionText } from '../groups/discovery.ts'
import type { Kind, SchemaSet } from '@skerry/api'
import { customDefinition, customListDefinition, listLikeAll } from './custom-definition.ts'
import { noDescriptions, type Descriptions } from './descriptions.ts'
import { openApiDefinition, referenceTo, withDescription } from './open-api-schema.ts'
import type { GroupVersionKindText, OpenApiDialect, OpenApiObject } from './open-api-schema.ts'
import { listDefinitionName, type PathEntry } from './operations.ts'

/** The data from which documents are made. */
export interface OpenApiInput {
  /** All served kinds, in discoveryOrder. */
  readonly kinds: readonly Kind[]
  /** Descriptions for definitions. If omitted, built-in kinds have none. */
  readonly descriptions?: Descriptions
  /** Returns a custom kind's openAPIV3Schema from its CRD. If omitted, the compact schema is used. */
  readonly customSchema?: (kind: Kind) => unknown
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const gvkKey = 'x-kubernetes-group-version-kind'

/** Returns the definitions that these paths refer to, and all that those refer to, sorted by name. */
export function definitionsOf(
  input: OpenApiInput,
  {
    kinds,
    paths,
    dialect,
  }: { kinds: readonly Kind[]; paths: readonly PathEntry[]; dialect: OpenApiDialect },
): OpenApiObject {
  const definitions = new Map<string, OpenApiObject>()
  const schemas = schemasOf(kinds)
  const described = withOwnTexts(input.descriptions ?? noDescriptions, kinds)
  const special = specialDefinitions(input, kinds, dialect)
  const gvks = groupVersionKinds(input.kinds)
  const pending = [...namesIn(paths)]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (definitions.has(name)) continue
    const schema = schemas[name]
    const made =
      special.get(name)?.() ??
      (schema && openApiDefinition(name, schema, { dialect, described: described(name) }))
    if (!made) continue
    const gvk = gvks.get(name)
    if (gvk) made[gvkKey] = gvk
    definitions.set(name, made)
    pending.push(...referencesIn(made))
  }
  const names = [...definitions.keys()].toSorted()
  return Object.fromEntries(names.map((name) => [name, definitions.get(name)]))
}

/** Kinds that bring texts of their own come before the looked-up ones. */
function withOwnTexts(descriptions: Descriptions, kinds: readonly Kind[]): Descriptions {
  const own = new Map(kinds.flatMap((kind) => Object.entries(kind.descriptions ?? {})))
  return (name) => own.get(name) ?? descriptions(name)
}

/** Returns definitions that are computed instead of looked up: lists, and custom resources from their CRD. */
function specialDefinitions(
  input: OpenApiInput,
  kinds: readonly Kind[],
  dialect: OpenApiDialect,
): Map<string, () => OpenApiObject> {
  const { descriptions = noDescriptions } = input
  const special = new Map<string, () => OpenApiObject>()
  for (const kind of kinds) {
    special.set(listDefinitionName(kind), () =>
      kind.isCustom
        ? customListDefinition(kind, { dialect, descriptions })
        : listDefinition(kind, { dialect, descriptions }),
    )
    const raw = kind.isCustom ? input.customSchema?.(kind) : undefined
    if (raw !== undefined) {
      special.set(kind.schemaName, () => customDefinition(kind, raw, { dialect, descriptions }))
    }
  }
  return special
}

function listDefinition(
  kind: Kind,
  { dialect, descriptions }: { dialect: OpenApiDialect; descriptions: Descriptions },
): OpenApiObject {
  // Kinds that are newer than the descriptions have the words that all lists share.
  const shared = descriptions(listLikeAll)?.fields
  const own = descriptions(listDefinitionName(kind))
  const described = (field: string, schema: OpenApiObject): OpenApiObject => {
    const description = own?.fields[field] ?? shared?.[field]
    return description === undefined ? schema : withDescription(schema, description)
  }
  const link = (name: string): OpenApiObject =>
    dialect === 'v3'
      ? { default: {}, allOf: [referenceTo(name, dialect)] }
      : referenceTo(name, dialect)
  const items = { type: 'array', items: link(kind.schemaName) }
  return {
    description: own?.description ?? `${kind.listKind} is a list of ${kind.kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: described('apiVersion', { type: 'string' }),
      items: own ? described('items', items) : items,
      kind: described('kind', { type: 'string' }),
      metadata: described('metadata', link(`${meta}ListMeta`)),
    },
  }
}

/** Maps definitions to the kinds that have this type, by which clients find definitions. */
function groupVersionKinds(kinds: readonly Kind[]): Map<string, GroupVersionKindText[]> {
  const found = new Map<string, GroupVersionKindText[]>()
  const add = (name: string, gvk: GroupVersionKindText) => {
    const known = found.get(name) ?? []
    const isKnown = known.some((one) => JSON.stringify(one) === JSON.stringify(gvk))
    if (!isKnown) found.set(name, [...known, gvk])
  }
  for (const { group, version, kind, listKind, schemaName, ...rest } of kinds) {
    add(schemaName, { group, version, kind })
    add(listName(schemaName, listKind), { group, version, kind: listKind })
    for (const subresource of rest.subresources) {
      const { group: itsGroup, version: itsVersion, kind: itsKind } = subresource.kind
      if (subresource.schemaName === undefined) continue
      add(subresource.schemaName, { group: itsGroup, version: itsVersion, kind: itsKind })
    }
  }
  for (const text of new Set(kinds.map(({ group, version }) => groupVersionText(group, version)))) {
    const [version = '', group = ''] = text.split('/').toReversed()
    add(`${meta}DeleteOptions`, { group, version, kind: 'DeleteOptions' })
    add(`${meta}WatchEvent`, { group, version, kind: 'WatchEvent' })
  }
  add(`${meta}Status`, { group: '', version: 'v1', kind: 'Status' })
  return found
}

function listName(schemaName: string, listKind: string): string {
  return schemaName.slice(0, schemaName.lastIndexOf('.') + 1) + listKind
}

/** Built-in kinds share one set; each custom kind has its own. */
function schemasOf(kinds: readonly Kind[]): SchemaSet {
  return Object.assign({}, ...new Set(kinds.map(({ schemas }) => schemas)))
}

function* namesIn(paths: readonly PathEntry[]): Generator<string> {
  for (const { operations } of paths) {
    for (const { produces, body, answers } of operations) {
      if (body !== undefined) yield body
      for (const answer of Object.values(answers)) if (answer !== undefined) yield answer
      if (produces.some((type) => type.endsWith('stream=watch'))) yield `${meta}WatchEvent`
    }
  }
}

function* referencesIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (key === '$ref' && typeof member === 'string')
      yield member.slice(member.lastIndexOf('/') + 1)
    else yield* referencesIn(member)
  }
}
