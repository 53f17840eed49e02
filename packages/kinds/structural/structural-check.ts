import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  equalJson,
  isJsonObject,
  memberOf,
  type JsonObject,
  type StatusCause,
} from '@skerry/api'
import { isFull } from './full-causes.ts'
import { checkPattern } from './patterns.ts'
import { causeLimits } from '../limits-table.ts'

/**
 * Checks whether a CRD's openAPIV3Schema is structural (KEP-1979). Errors are in upstream's words,
 * sorted. Other definitions are refused, so none has the condition NonStructuralSchema, which
 * upstream sets for those stored before version v1 of the API. `path` is the schema's path, e.g.
 * `spec.versions[0].schema.openAPIV3Schema`.
 */
export function checkStructural(openAPIV3Schema: unknown, path: string): StatusCause[] {
  if (!isJsonObject(openAPIV3Schema)) return [fieldRequired(path, 'schemas are required')]
  const causes: StatusCause[] = []
  checkNode(openAPIV3Schema, { level: 'root', path }, causes)
  checkCompleteness(openAPIV3Schema, { structure: openAPIV3Schema, path, nested: false }, causes)
  const text = (cause: StatusCause): string => `${cause.field ?? ''}: ${cause.message ?? ''}`
  return causes.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
}

type Props = Readonly<JsonObject>

interface Place {
  readonly level: 'root' | 'item' | 'field'
  readonly path: string
}

const whatIsMissing = Object.freeze({
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
})

function checkNode(props: Props, { level, path }: Place, causes: StatusCause[]): void {
  if (isFull(causes, causeLimits.definitionCausesMax)) return
  const { items, additionalProperties } = props
  if (props['type'] === 'array' && !isJsonObject(items)) {
    causes.push(fieldRequired(`${path}.items`, 'must be specified'))
  }
  if (isJsonObject(items)) checkNode(items, { level: 'item', path: `${path}.items` }, causes)
  for (const [key, field] of membersOf(props, 'properties')) {
    checkNode(field, { level: 'field', path: `${path}.properties[${key}]` }, causes)
  }
  if (additionalProperties !== undefined && level === 'root') {
    causes.push(fieldForbidden(`${path}.additionalProperties`, 'must not be used at the root'))
  }
  if (isJsonObject(additionalProperties)) {
    checkNode(
      additionalProperties,
      { level: 'field', path: `${path}.additionalProperties` },
      causes,
    )
  }
  checkExtensions(props, path, causes)
  checkType(props, { level, path }, causes)
  checkMeta(props, { level, path }, causes)
  checkValues(props, { path, isIntOrString: props['x-kubernetes-int-or-string'] === true }, causes)
}

function checkExtensions(props: Props, path: string, causes: StatusCause[]): void {
  const isEmbedded = props['x-kubernetes-embedded-resource'] === true
  if (props['x-kubernetes-int-or-string'] === true) {
    for (const other of ['preserve-unknown-fields', 'embedded-resource']) {
      if (props[`x-kubernetes-${other}`] !== true) continue
      const detail = 'must be false if x-kubernetes-int-or-string is true'
      causes.push(fieldInvalid(`${path}.x-kubernetes-${other}`, true, detail))
    }
  }
  if (!isEmbedded) return
  if (props['additionalProperties'] !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    causes.push(fieldForbidden(`${path}.additionalProperties`, detail))
  }
  const isOpen = props['x-kubernetes-preserve-unknown-fields'] === true
  if (!isOpen && membersOf(props, 'properties').length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    causes.push(fieldRequired(`${path}.properties`, detail))
  }
}

function checkType(props: Props, { level, path }: Place, causes: StatusCause[]): void {
  const type = props['type'] ?? ''
  const field = `${path}.type`
  if (props['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    causes.push(type === '' ? fieldRequired(field, detail) : fieldInvalid(field, type, detail))
  } else if (type === '') {
    const isAny =
      props['x-kubernetes-int-or-string'] === true ||
      props['x-kubernetes-preserve-unknown-fields'] === true
    if (!isAny) causes.push(fieldRequired(field, whatIsMissing[level]))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    causes.push(fieldInvalid(field, type, 'must be object at the root'))
  }
}

/** The server defines apiVersion, kind and metadata; a schema can hardly restrict them. */
function checkMeta(props: Props, { level, path }: Place, causes: StatusCause[]): void {
  if (level !== 'root' && props['x-kubernetes-embedded-resource'] !== true) return
  const properties = new Map(membersOf(props, 'properties'))
  for (const key of ['kind', 'apiVersion']) {
    const field = properties.get(key)
    if (!field || field['type'] === 'string') continue
    const where = `${path}.properties[${key}].type`
    causes.push(fieldInvalid(where, field['type'] ?? '', 'must be string'))
  }
  const metadata = properties.get('metadata')
  if (!metadata) return
  const where = `${path}.properties[metadata]`
  if (metadata['type'] !== 'object') {
    causes.push(fieldInvalid(`${where}.type`, metadata['type'] ?? '', 'must be object'))
  }
  if (level === 'root' && !restrictsOnlyNames(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    causes.push(fieldForbidden(where, detail))
  }
}

function restrictsOnlyNames(metadata: Props): boolean {
  const names = membersOf(metadata, 'properties').map(([key]) => key)
  const others = Object.keys(metadata).filter((key) => key !== 'type' && key !== 'properties')
  return others.length === 0 && names.every((name) => name === 'name' || name === 'generateName')
}

interface Values {
  readonly path: string
  /** The anyOf that spells out int-or-string may name types. */
  readonly isIntOrString: boolean
}

function checkValues(props: Props, { path, isIntOrString }: Values, causes: StatusCause[]): void {
  const { not, pattern } = props
  const isSpelledOut = isIntOrString && equalJson(props['anyOf'], intOrStringTypes)
  partsOf(props, 'anyOf').forEach((part, at) => {
    if (!isSpelledOut)
      checkNested(part, { path: `${path}.anyOf[${at}]`, isIntOrString: false }, causes)
  })
  partsOf(props, 'allOf').forEach((part, at) => {
    const inFirst = isIntOrString && at === 0
    checkNested(part, { path: `${path}.allOf[${at}]`, isIntOrString: inFirst }, causes)
  })
  partsOf(props, 'oneOf').forEach((part, at) => {
    checkNested(part, { path: `${path}.oneOf[${at}]`, isIntOrString: false }, causes)
  })
  if (isJsonObject(not)) checkNested(not, { path: `${path}.not`, isIntOrString: false }, causes)
  if (typeof pattern !== 'string' || pattern === '') return
  const wrong = checkPattern(pattern)
  if (wrong !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${wrong}`
    causes.push(fieldInvalid(`${path}.pattern`, pattern, detail))
  }
}

const intOrStringTypes = Object.freeze([{ type: 'integer' }, { type: 'string' }])

/** Keywords that a part of anyOf and the like may not use, because the structure outside must define them. */
const forbiddenInside: readonly (readonly [string, string])[] = Object.freeze([
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
])

function checkNested(props: Props, values: Values, causes: StatusCause[]): void {
  if (isFull(causes, causeLimits.definitionCausesMax)) return
  const { path } = values
  checkValues(props, values, causes)
  const { items } = props
  if (isJsonObject(items)) {
    checkNested(items, { path: `${path}.items`, isIntOrString: false }, causes)
  }
  for (const [key, field] of membersOf(props, 'properties')) {
    checkNested(field, { path: `${path}.properties[${key}]`, isIntOrString: false }, causes)
    if (key !== 'metadata') continue
    const where = `${path}.properties[metadata]`
    causes.push(fieldForbidden(where, 'must not be specified in a nested context'))
  }
  for (const [key, detail] of forbiddenInside) {
    const value = props[key]
    const isSaid = value !== undefined && value !== '' && value !== false && value !== null
    if (isSaid) causes.push(fieldForbidden(`${path}.${key}`, detail))
  }
}

interface Nested {
  /** The structure at this place outside anyOf and the like, or undefined if there is none. */
  readonly structure: Props | undefined
  readonly path: string
  readonly nested: boolean
}

/**
 * Every field and list that a part of the root's anyOf and the like mentions must be specified
 * outside. Upstream does not require this of junctions further down.
 */
function checkCompleteness(props: Props, at: Nested, causes: StatusCause[]): void {
  if (isFull(causes, causeLimits.definitionCausesMax)) return
  const { structure, path } = at
  for (const junction of ['allOf', 'anyOf', 'oneOf']) {
    partsOf(props, junction).forEach((part, index) => {
      checkCompleteness(
        part,
        { structure, path: `${path}.${junction}[${index}]`, nested: true },
        causes,
      )
    })
  }
  const { not, items } = props
  if (isJsonObject(not)) {
    checkCompleteness(not, { structure, path: `${path}.not`, nested: true }, causes)
  }
  if (!at.nested) return
  for (const [key, field] of membersOf(props, 'properties')) {
    const where = `${path}.properties[${key}]`
    const fields = structure ? structure['properties'] : undefined
    const outside = isJsonObject(fields) ? memberOf(fields, key) : undefined
    if (!isJsonObject(outside)) causes.push(missingOutside(where))
    else checkCompleteness(field, { structure: outside, path: where, nested: true }, causes)
  }
  if (!isJsonObject(items)) return
  const outside = structure ? memberOf(structure, 'items') : undefined
  const where = `${path}.items`
  if (!isJsonObject(outside)) causes.push(missingOutside(where))
  else checkCompleteness(items, { structure: outside, path: where, nested: true }, causes)
}

function missingOutside(where: string): StatusCause {
  const plain = where.replaceAll(/\.(?:allOf|anyOf|oneOf)\[\d+\]|\.not(?=\.|$)/g, '')
  return fieldRequired(plain, `because it is defined in ${where}`)
}

function partsOf(props: Props, key: string): JsonObject[] {
  const parts = props[key]
  return Array.isArray(parts) ? parts.filter(isJsonObject) : []
}

function membersOf(props: Props, key: string): [string, JsonObject][] {
  const members = props[key]
  if (!isJsonObject(members)) return []
  return Object.entries(members).filter((entry): entry is [string, JsonObject] =>
    isJsonObject(entry[1]),
  )
}
