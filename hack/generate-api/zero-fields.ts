import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Schema } from '../../packages/api/schema.ts'

/**
 * Which fields a Go struct leaves out of its JSON when they are zero: `omitempty` on a plain value.
 * OpenAPI does not tell it from a pointer, whose false, 0 or "" means something.
 */
export type ZeroFields = ReadonlyMap<string, ReadonlySet<string>>

interface GoModule {
  /** Of the definitions in OpenAPI, e.g. `io.k8s.api`. */
  readonly prefix: string
  readonly dir: string
  /** Where the packages of types lie in the module. */
  readonly folder: string
}

export interface GoModuleDirs {
  api: string
  apimachinery: string
  apiextensions: string
  aggregator: string
}

export function readZeroFields(dirs: GoModuleDirs): ZeroFields {
  const modules: GoModule[] = [
    { prefix: 'io.k8s.api', dir: dirs.api, folder: '' },
    { prefix: 'io.k8s.apimachinery', dir: dirs.apimachinery, folder: 'pkg/apis/meta' },
    {
      prefix: 'io.k8s.apiextensions-apiserver',
      dir: dirs.apiextensions,
      folder: 'pkg/apis/apiextensions',
    },
    { prefix: 'io.k8s.kube-aggregator', dir: dirs.aggregator, folder: 'pkg/apis/apiregistration' },
  ]
  return new Map(modules.flatMap(readModule))
}

/** The definition with `omitZero` on the fields that have it. */
export function withZeroFields(name: string, schema: Schema, zeroFields: ZeroFields): Schema {
  const fields = zeroFields.get(name)
  if (!fields || !schema.properties) return schema
  const properties = Object.entries(schema.properties).map(([key, field]): [string, Schema] => {
    const isScalar = field.ref === undefined && scalarTypes.has(field.type ?? '')
    return [key, fields.has(key) && isScalar ? { ...field, omitZero: true } : field]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const scalarTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean'])

function readModule({ prefix, dir, folder }: GoModule): [string, ReadonlySet<string>][] {
  const files = readdirSync(join(dir, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(?:^|\/)v[0-9a-z]+\/[a-z_]*types\.go$/.test(file))
    .flatMap((file) => {
      const path = join(folder, file).split('/').slice(0, -1).join('.')
      const structs = readStructs(readFileSync(join(dir, folder, file), 'utf8'))
      return [...structs].map(([name, struct]): [string, ReadonlySet<string>] => [
        `${prefix}.${path}.${name}`,
        allFields(struct, structs),
      ])
    })
}

interface GoStruct {
  readonly zeroFields: readonly string[]
  /** Types whose fields are inlined. */
  readonly inlined: readonly string[]
}

function readStructs(source: string): Map<string, GoStruct> {
  const structs = new Map<string, GoStruct>()
  for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n([^]*?)^\}/gm)) {
    const zeroFields: string[] = []
    const inlined: string[] = []
    for (const line of body.split('\n')) {
      const embedded = /^\t([\w.]+)\s+`json:",inline"/.exec(line)?.[1]
      if (embedded) inlined.push(embedded)
      const field = /^\t\w+\s+([\w.]+)\s+`json:"(\w+),omit(?:empty|zero)/.exec(line)?.[2]
      if (field) zeroFields.push(field)
    }
    structs.set(name, { zeroFields, inlined })
  }
  return structs
}

function allFields(struct: GoStruct, structs: ReadonlyMap<string, GoStruct>): ReadonlySet<string> {
  const below = struct.inlined.flatMap((name) => {
    const other = structs.get(name)
    return other ? [...allFields(other, structs)] : []
  })
  return new Set([...struct.zeroFields, ...below])
}
