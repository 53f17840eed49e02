import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { parse } from 'yaml'

/** Describes the fields of a configuration file, as data. `ConfigOf` is the type derived from it. */
export type ConfigShape =
  | 'string'
  | 'number'
  | 'boolean'
  | { readonly list: ConfigShape }
  | { readonly map: ConfigShape }
  | { readonly fields: Readonly<Record<string, ConfigShape>> }

export type ConfigOf<S> = S extends 'string'
  ? string
  : S extends 'number'
    ? number
    : S extends 'boolean'
      ? boolean
      : S extends { readonly list: infer L }
        ? ConfigOf<L>[]
        : S extends { readonly map: infer M }
          ? Record<string, ConfigOf<M>>
          : S extends { readonly fields: infer F }
            ? { [K in keyof F]?: ConfigOf<F[K]> }
            : never

export interface ConfigFormat<F> {
  readonly kind: string
  readonly apiVersions: readonly string[]
  readonly fields: F
}

/** Reads YAML or JSON. Refuses unknown fields and fields of another type. Throws ExpectedError. */
export function parseConfig<const F extends Readonly<Record<string, ConfigShape>>>(
  text: string,
  format: ConfigFormat<F>,
): ConfigOf<{ readonly fields: F }> {
  const value = parsed(text, format.kind)
  const { apiVersion, kind, ...fields } = asRecord(value) ?? {}
  const isKnown = typeof apiVersion === 'string' && format.apiVersions.includes(apiVersion)
  if (kind !== format.kind || !isKnown) {
    throw configError(
      format.kind,
      `no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}; use ${format.kind} of ${format.apiVersions.join(' or ')}`,
    )
  }
  const problems = shapeProblems(fields, { fields: format.fields }, '')
  if (problems.length > 0) throw configError(format.kind, problems.join(', '))
  // The check above has compared every field with the shape that the type is derived from.
  return fields as ConfigOf<{ readonly fields: F }>
}

/** Reports an error that the file's author can correct. */
export function configError(kind: string, reason: string): ExpectedError {
  return new ExpectedError(`Cannot use ${kind}: ${reason}`, exitCodes.failure)
}

function parsed(text: string, kind: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw configError(kind, firstLine(messageOf(error)))
  }
}

/** The parser quotes the surrounding text on further lines, and that may contain a key. */
function firstLine(message: string): string {
  const [line = ''] = message.split('\n', 1)
  return line.replace(/:$/, '')
}

function shapeProblems(value: unknown, shape: ConfigShape, path: string): string[] {
  if (value === undefined || value === null) return []
  if (typeof shape === 'string') {
    return typeof value === shape ? [] : [`${path}: expected a ${shape}`]
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return [`${path}: expected a list`]
    return value.flatMap((item, at) => shapeProblems(item, shape.list, `${path}[${at}]`))
  }
  const record = asRecord(value)
  if (!record) return [`${path}: expected an object`]
  return Object.entries(record).flatMap(([name, child]) => {
    const childPath = path === '' ? name : `${path}.${name}`
    if ('map' in shape) return shapeProblems(child, shape.map, childPath)
    const next = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (next === undefined) return [`unknown field ${JSON.stringify(childPath)}`]
    return shapeProblems(child, next, childPath)
  })
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // Any other object is a record of unknown values.
  return value as Record<string, unknown>
}
