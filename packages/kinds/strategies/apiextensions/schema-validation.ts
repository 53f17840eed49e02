import { expressions } from '../../expressions/expressions.ts'
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isJsonObject,
  type JsonObject,
  type StatusCause,
} from '@skerry/api'
import { checkDefaults } from './default-validation.ts'
import { checkStructural } from '../../structural/structural-check.ts'
import type { Found } from '../checks.ts'

/** Checks a version's openAPIV3Schema: its structure first, then each place in it, then its rules. */
export function checkSchema(schema: unknown, path: string, found: Found): void {
  if (!isJsonObject(schema)) {
    found.push(...checkStructural(schema, path))
    return
  }
  if (schema['nullable'] === true) {
    found.push(fieldForbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  }
  const places: Found = []
  checkPlace(schema, { path, isRoot: true, defaults: undefined, isMeta: false }, places)
  if (!hasUnsupported(schema)) {
    const structural = checkStructural(schema, path)
    if (structural.length === 0) checkDefaults(schema, path, structural)
    if (structural.length + places.length === 0)
      places.push(...expressions().checkRules(schema, path))
    found.push(...structural)
  }
  found.push(...places)
}

type Props = Readonly<JsonObject>

interface Place {
  readonly path: string
  readonly isRoot: boolean
  /** The reason why defaults are forbidden here, or undefined if they are allowed. */
  readonly defaults: string | undefined
  /** True within apiVersion, kind or metadata. */
  readonly isMeta: boolean
}

const unsupported = Object.freeze([
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
])

const types = Object.freeze(['array', 'boolean', 'integer', 'number', 'object', 'string'])

/** A schema with these cannot be read as a structural one at all. */
function hasUnsupported(props: Props): boolean {
  if (unsupported.some((name) => isSet(props[name])) || Array.isArray(props['items'])) return true
  return [...placesBelow(props, '')].some(([below]) => hasUnsupported(below))
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === '') return false
  return !isJsonObject(value) || Object.keys(value).length > 0
}

function checkSupport(props: Props, { path, defaults, isMeta }: Place, found: Found): void {
  const { type, items } = props
  if (typeof type === 'string' && type !== '' && !types.includes(type)) {
    found.push(fieldNotSupported(`${path}.type`, type, types))
  }
  if (props['default'] !== undefined && defaults !== undefined) {
    found.push(fieldForbidden(`${path}.default`, `must not be set ${defaults}`))
  }
  for (const name of unsupported) {
    if (isSet(props[name]))
      found.push(fieldForbidden(`${path}.${name}`, `${name} is not supported`))
  }
  if (type === 'null') {
    const detail = 'type cannot be set to null, use nullable as an alternative'
    found.push(fieldForbidden(`${path}.type`, detail))
  }
  if (Array.isArray(items) && items.length > 0) {
    const detail = 'items must be a schema object and not an array'
    found.push(fieldForbidden(`${path}.items`, detail))
  }
  if (isMeta && props['x-kubernetes-embedded-resource'] === true) {
    const detail = 'must not be used inside of resource meta'
    found.push(fieldForbidden(`${path}.x-kubernetes-embedded-resource`, detail))
  }
}

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

function placeBelow(
  place: Place,
  props: Props,
  { path, key }: { path: string; key: string },
): Place {
  const below = { ...place, path, isRoot: false }
  const isResource = place.isRoot || props['x-kubernetes-embedded-resource'] === true
  if (isResource && path.endsWith(`.properties[${key}]`) && metaFields.has(key)) {
    const defaults = place.isRoot ? `in top-level ${key}` : place.defaults
    return { ...below, isMeta: true, defaults }
  }
  if (place.isMeta && path.endsWith('.additionalProperties')) {
    return { ...below, defaults: 'inside additionalProperties applying to object metadata' }
  }
  return below
}

function checkPlace(props: Props, place: Place, found: Found): void {
  const { path } = place
  checkSupport(props, place, found)
  if (props['uniqueItems'] === true) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    found.push(fieldForbidden(`${path}.uniqueItems`, detail))
  }
  const { additionalProperties, properties } = props
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0
  if (additionalProperties !== undefined && additionalProperties !== true && hasProperties) {
    const detail = 'additionalProperties and properties are mutual exclusive'
    found.push(fieldForbidden(`${path}.additionalProperties`, detail))
  }
  for (const [below, where, key] of placesBelow(props, path)) {
    checkPlace(below, placeBelow(place, props, { path: where, key }), found)
  }
  if (props['x-kubernetes-preserve-unknown-fields'] === false) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`
    found.push(fieldInvalid(field, false, 'must be true or undefined'))
  }
  checkMapType(props, path, found)
  checkListType(props, path, found)
  found.push(...expressions().checkRuleTexts(props, path))
}

function* placesBelow(props: Props, path: string): Generator<[Props, string, string]> {
  for (const name of ['additionalProperties', 'items', 'not'] as const) {
    const below = props[name]
    if (isJsonObject(below)) yield [below, `${path}.${name}`, name]
  }
  for (const name of ['properties', 'definitions'] as const) {
    const below = props[name]
    for (const [key, value] of Object.entries(isJsonObject(below) ? below : {})) {
      if (isJsonObject(value)) yield [value, `${path}.${name}[${key}]`, key]
    }
  }
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const below = props[name]
    for (const [at, value] of (Array.isArray(below) ? below : []).entries()) {
      if (isJsonObject(value)) yield [value, `${path}.${name}[${at}]`, '']
    }
  }
}

function requireType(
  props: Props,
  { path, type, extension }: { path: string; type: string; extension: string },
): StatusCause[] {
  const found = props['type'] ?? ''
  if (found === type) return []
  const detail = `must be ${type} if ${extension} is specified`
  return [
    found === ''
      ? fieldRequired(`${path}.type`, detail)
      : fieldInvalid(`${path}.type`, found, detail),
  ]
}

function checkMapType(props: Props, path: string, found: Found): void {
  const mapType = props['x-kubernetes-map-type']
  if (mapType === undefined) return
  const extension = 'x-kubernetes-map-type'
  found.push(...requireType(props, { path, type: 'object', extension }))
  if (mapType === 'atomic' || mapType === 'granular') return
  found.push(fieldNotSupported(`${path}.${extension}`, mapType, ['atomic', 'granular']))
}

function checkListType(props: Props, path: string, found: Found): void {
  const listType = props['x-kubernetes-list-type']
  const extension = 'x-kubernetes-list-type'
  if (listType !== undefined) {
    const wrong = requireType(props, { path, type: 'array', extension })
    found.push(...wrong)
    if (wrong.length === 0 && listType === 'set') checkSetItems(props, path, found)
    const types = ['atomic', 'map', 'set']
    if (typeof listType !== 'string' || !types.includes(listType)) {
      found.push(fieldNotSupported(`${path}.${extension}`, listType, ['atomic', 'set', 'map']))
    }
  }
  const keys = props['x-kubernetes-list-map-keys']
  const hasKeys = Array.isArray(keys) && keys.length > 0
  if (hasKeys && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const field = `${path}.${extension}`
    found.push(
      listType === undefined ? fieldRequired(field, detail) : fieldInvalid(field, listType, detail),
    )
  }
  if (listType === 'map') checkListMap(props, path, found)
  const { items } = props
  const isKeyed = listType === 'map' || listType === 'set'
  if (isKeyed && isJsonObject(items) && items['nullable'] === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    found.push(fieldForbidden(`${path}.items.nullable`, detail))
  }
}

/** Items of a set are compared as a whole. */
function checkSetItems({ items }: Props, path: string, found: Found): void {
  if (!isJsonObject(items)) return
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { type } = items
  const listType = items['x-kubernetes-list-type']
  if (type === 'array' && listType !== undefined && listType !== 'atomic') {
    found.push(fieldInvalid(`${path}.items.x-kubernetes-list-type`, listType, detail))
  }
  if (type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    found.push(fieldInvalid(`${path}.items.x-kubernetes-map-type`, listType ?? null, detail))
  }
}

function checkListMap(props: Props, path: string, found: Found): void {
  const { items } = props
  const field = `${path}.x-kubernetes-list-map-keys`
  const keys = props['x-kubernetes-list-map-keys']
  const names: unknown[] = Array.isArray(keys) ? keys : []
  if (names.length === 0) {
    found.push(fieldRequired(field, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (!isJsonObject(items)) {
    found.push(
      fieldRequired(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'),
    )
    return
  }
  if (items['type'] !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    found.push(fieldInvalid(`${path}.items.type`, items['type'] ?? '', detail))
    return
  }
  const properties = isJsonObject(items['properties']) ? items['properties'] : {}
  for (const [at, name] of names.entries()) {
    const property = typeof name === 'string' ? properties[name] : undefined
    if (!isJsonObject(property)) {
      found.push(fieldInvalid(field, names, 'entries must all be names of item properties'))
    } else if (property['type'] === 'array' || property['type'] === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      found.push(
        fieldInvalid(`${path}.items.properties[${String(name)}].type`, items['type'], detail),
      )
    }
    if (names.indexOf(name) < at) {
      found.push(fieldInvalid(field, names, 'must not contain duplicate entries'))
    }
  }
  checkMapKeys(items, { path, names, properties }, found)
}

/** Upstream merges by these keys, so each must exist: required, or with a default. */
function checkMapKeys(
  items: Props,
  { path, names, properties }: { path: string; names: readonly unknown[]; properties: Props },
  found: Found,
): void {
  const required: unknown[] = Array.isArray(items['required']) ? items['required'] : []
  for (const name of names) {
    const property = typeof name === 'string' ? properties[name] : undefined
    if (!isJsonObject(property)) continue
    const where = `${path}.items.properties[${String(name)}]`
    if (property['nullable'] === true) {
      found.push(
        fieldForbidden(
          `${where}.nullable`,
          'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        ),
      )
    }
    if (property['default'] !== undefined || required.includes(name)) continue
    const detail =
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
    found.push(fieldRequired(`${where}.default`, detail))
  }
}
