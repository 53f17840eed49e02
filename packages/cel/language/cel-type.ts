/** The types of CEL, as the checker sees them. */
export type CelType =
  | { readonly kind: ScalarKind; readonly maxElements?: number }
  | {
      readonly kind: 'list'
      readonly element: CelType
      /** How lists of this type are compared and concatenated, if not as usual. */
      readonly listKind?: ListKind
      readonly maxElements?: number
    }
  | {
      readonly kind: 'map'
      readonly key: CelType
      readonly value: CelType
      readonly maxElements?: number
    }
  | { readonly kind: 'object'; readonly name: string }
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: 'type'; readonly of?: CelType }
  | { readonly kind: 'parameter'; readonly name: string }

export type ScalarKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'

/** Lists whose items have an identity: they are equal in any order, and `+` merges. */
export type ListKind =
  | { readonly type: 'set' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/** A message with named fields; the environment's `types` hold them by name. */
export interface ObjectType {
  readonly fields: Readonly<Record<string, ObjectField>>
}

export interface ObjectField {
  readonly type: CelType
  /** The field's name in JSON, if it differs from its name in CEL. */
  readonly jsonName?: string
  /** A second name of a field, which is not among the fields of a value. */
  readonly isAlias?: boolean
}

const scalar = (kind: ScalarKind): CelType => Object.freeze({ kind })

export const celTypes = Object.freeze({
  dyn: scalar('dyn'),
  error: scalar('error'),
  null: scalar('null'),
  bool: scalar('bool'),
  int: scalar('int'),
  uint: scalar('uint'),
  double: scalar('double'),
  string: scalar('string'),
  bytes: scalar('bytes'),
  timestamp: scalar('timestamp'),
  duration: scalar('duration'),
})

export function listType(element: CelType): CelType {
  return { kind: 'list', element }
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value }
}

export function objectType(name: string): CelType {
  return { kind: 'object', name }
}

export function opaqueType(name: string, ...parameters: readonly CelType[]): CelType {
  return { kind: 'opaque', name, parameters }
}

export function optionalType(of: CelType): CelType {
  return opaqueType(optionalTypeName, of)
}

export const optionalTypeName = 'optional_type'

export function typeParameter(name: string): CelType {
  return { kind: 'parameter', name }
}

const printedScalars: Readonly<Record<ScalarKind, string>> = Object.freeze({
  dyn: 'dyn',
  error: '!error!',
  null: 'null',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  timestamp: 'timestamp',
  duration: 'duration',
})

/** Returns the type in CEL's words, as in messages: `map(string, list(int))`. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.element)})`
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`
    case 'object':
    case 'parameter':
      return type.name
    case 'opaque':
      return type.parameters.length === 0
        ? type.name
        : `${type.name}(${type.parameters.map(typeText).join(', ')})`
    case 'type':
      return type.of ? `type(${typeText(type.of)})` : 'type'
    default:
      return printedScalars[type.kind]
  }
}
