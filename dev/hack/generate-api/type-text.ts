import type { Schema, SchemaSet } from '@skerry/api'
import type { KindFact } from './kind-facts.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Types that the package writes by hand; the generated ones refer to them. */
const ownTypes: ReadonlyMap<string, { name: string; file: string }> = new Map(
  [
    ['ObjectMeta', '../object.ts'],
    ['OwnerReference', '../object.ts'],
    ['ManagedFieldsEntry', '../object.ts'],
    ['ListMeta', '../object.ts'],
    ['GroupResource', '../object.ts'],
    ['Status', '../status-error.ts'],
    ['StatusCause', '../status-error.ts'],
    ['StatusDetails', '../status-error.ts'],
  ].map(([name = '', file = '']) => [`${meta}${name}`, { name, file }]),
)

/** Definitions that are one JSON value and are written inline. */
const inlineTypes: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'Quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'IntOrString'],
  [`${meta}Time`, 'Time'],
  [`${meta}MicroTime`, 'MicroTime'],
  [`${meta}FieldsV1`, 'Record<string, unknown>'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'Record<string, unknown>'],
])

/**
 * Returns the TypeScript types of every kind and of their parts. They are type aliases, because interfaces
 * are not assignable to AnyObject.
 */
export function typeText(schemas: SchemaSet, kinds: readonly KindFact[]): string {
  const names = typeNames(Object.keys(schemas), kinds)
  const ordered = [...names].toSorted(([, a], [, b]) => (a < b ? -1 : 1))
  const blocks = ordered.map(([definition, name]) =>
    definitionText(name, schemas[definition] ?? {}, (schema) => typeOf(schema, names)),
  )
  return [header(blocks.join('\n')), ...blocks].join('\n')
}

/**
 * Chooses the plain name if it is free. In a clash meta types win, then core's kinds, then the one kind, then
 * core's other types; all others get group and version before their name. Types that a group's preferred
 * version also has are left out of the older versions.
 */
function typeNames(definitions: readonly string[], kinds: readonly KindFact[]) {
  const superseded = supersededPackages(kinds)
  const served = new Set(
    kinds.flatMap(({ schemaName, subresources = [] }) => [
      schemaName,
      ...subresources.map(({ group, version, kind }) =>
        [group === '' ? 'core' : group.split('.')[0], version, kind].join('.'),
      ),
    ]),
  )
  const isKind = (one: string) => served.has(one) || served.has(one.split('.').slice(-3).join('.'))
  const taken = new Map<string, string[]>()
  for (const definition of definitions) {
    if (ownTypes.has(definition) || inlineTypes.has(definition)) continue
    const { base } = partsOf(definition)
    taken.set(base, [...(taken.get(base) ?? []), definition])
  }
  const names = new Map<string, string>()
  for (const [base, claimants] of taken) {
    const current = claimants.filter((one) => !superseded.has(packageOf(one)))
    const currentKinds = current.filter(isKind)
    const isCore = (one: string) => packageOf(one) === 'io.k8s.api.core.v1'
    const winner =
      claimants.find((one) => one.startsWith(meta)) ??
      currentKinds.find(isCore) ??
      (currentKinds.length === 1 ? currentKinds[0] : undefined) ??
      claimants.find(isCore) ??
      (current.length === 1 ? current[0] : undefined) ??
      (claimants.length === 1 ? claimants[0] : undefined)
    for (const definition of claimants) {
      if (definition === winner) names.set(definition, base)
      else if (winner === undefined || !superseded.has(packageOf(definition))) {
        names.set(definition, partsOf(definition).qualified)
      }
    }
  }
  return names
}

/** Returns the packages of versions that are not preferred in their group: they never win a clash of names. */
function supersededPackages(kinds: readonly KindFact[]): Set<string> {
  const first = new Map<string, string>()
  for (const { group, version } of kinds) if (!first.has(group)) first.set(group, version)
  const superseded = kinds.filter(({ group, version }) => first.get(group) !== version)
  return new Set(superseded.map(({ schemaName }) => packageOf(schemaName)))
}

function packageOf(definition: string): string {
  return definition.slice(0, definition.lastIndexOf('.'))
}

function partsOf(definition: string): { base: string; qualified: string } {
  const parts = definition.split('.')
  const base = parts.at(-1) ?? definition
  const capital = (word = '') => word.slice(0, 1).toUpperCase() + word.slice(1)
  return { base, qualified: capital(parts.at(-3)) + capital(parts.at(-2)) + base }
}

function header(body: string): string {
  const lines = ['// Made by dev/hack/generate-api from facts of the Kubernetes API. Do not edit.']
  for (const file of ['../object.ts', '../status-error.ts']) {
    const used = [...ownTypes.values()]
      .filter((own) => own.file === file && new RegExp(`\\b${own.name}\\b`).test(body))
      .map((own) => own.name)
    if (used.length > 0) lines.push(`import type { ${used.join(', ')} } from '${file}'`)
  }
  lines.push(
    '',
    '/** A number with an optional suffix, e.g. 100m, 1.5Gi. */',
    'export type Quantity = string',
    'export type IntOrString = number | string',
    '/** RFC 3339, whole seconds. */',
    'export type Time = string',
    '/** RFC 3339 with microseconds. */',
    'export type MicroTime = string',
    '',
  )
  return lines.join('\n')
}

function definitionText(
  name: string,
  schema: Schema,
  typeTextOf: (schema: Schema) => string,
): string {
  if (schema.type !== 'object' || !schema.properties) {
    return `export type ${name} = ${typeTextOf(schema)}\n`
  }
  const required = new Set(schema.required)
  if (
    schema.properties['metadata']?.ref === `${meta}ObjectMeta` &&
    schema.properties['apiVersion']
  ) {
    for (const field of ['apiVersion', 'kind', 'metadata']) required.add(field)
  }
  const sorted = Object.entries(schema.properties).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const fields = sorted.map(([field, type]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field)
    // Validation refuses null if a value is required.
    const orNull = type.writesNull && !required.has(field) ? ' | null' : ''
    return `  ${key}${required.has(field) ? '' : '?'}: ${typeTextOf(type)}${orNull}`
  })
  return [`export type ${name} = {`, ...fields, '}', ''].join('\n')
}

function typeOf(schema: Schema, names: ReadonlyMap<string, string>): string {
  if (schema.ref !== undefined) {
    const known = inlineTypes.get(schema.ref) ?? ownTypes.get(schema.ref)?.name
    return known ?? names.get(schema.ref) ?? 'unknown'
  }
  switch (schema.type) {
    case 'string':
      // The enum's values are left out: servers of other versions have others.
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array': {
      const element = typeOf(schema.items ?? {}, names)
      return element.includes('|') ? `(${element})[]` : `${element}[]`
    }
    case 'object': {
      const values = schema.additionalProperties
      return `Record<string, ${values ? typeOf(values, names) : 'unknown'}>`
    }
    case undefined:
      return 'unknown'
  }
}
