import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Schema } from '../../packages/api/schema.ts'

/** How a Go struct writes its zero fields, which OpenAPI does not tell. By definition. */
export type ZeroFields = ReadonlyMap<string, FieldsOfStruct>

interface FieldsOfStruct {
  /**
   * Left out: `omitempty` on a plain value. OpenAPI does not tell it from a pointer, whose false, 0
   * or "" means something.
   */
  readonly leftOut: ReadonlySet<string>
  /**
   * Written as null: lists, maps, bytes and pointers without `omitempty`, and times and raw objects,
   * which are structs that `omitempty` never takes for empty.
   */
  readonly nulls: ReadonlySet<string>
}

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

/** The definition with `omitZero` and `writesNull` on the fields that have it. */
export function withZeroFields(name: string, schema: Schema, zeroFields: ZeroFields): Schema {
  const fields = zeroFields.get(name)
  if (!fields || !schema.properties) return schema
  const properties = Object.entries(schema.properties).map(([key, field]): [string, Schema] => {
    if (fields.nulls.has(key)) return [key, { ...field, writesNull: true }]
    const isScalar = field.ref === undefined && scalarTypes.has(field.type ?? '')
    return [key, fields.leftOut.has(key) && isScalar ? { ...field, omitZero: true } : field]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const scalarTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean'])

function readModule({ prefix, dir, folder }: GoModule): [string, FieldsOfStruct][] {
  const files = readdirSync(join(dir, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(?:^|\/)v[0-9a-z]+\/[a-z_]*types\.go$/.test(file))
    .flatMap((file) => {
      const path = join(folder, file).split('/').slice(0, -1).join('.')
      const structs = readStructs(readFileSync(join(dir, folder, file), 'utf8'))
      return [...structs].map(([name, struct]): [string, FieldsOfStruct] => [
        `${prefix}.${path}.${name}`,
        allFields(struct, structs),
      ])
    })
}

interface GoStruct extends FieldsOfStruct {
  /** Types whose fields are inlined. */
  readonly inlined: readonly string[]
}

function readStructs(source: string): Map<string, GoStruct> {
  const structs = new Map<string, GoStruct>()
  for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n([^]*?)^\}/gm)) {
    const leftOut = new Set<string>()
    const nulls = new Set<string>()
    const inlined: string[] = []
    for (const line of body.split('\n')) {
      const embedded = /^\t([\w.]+)\s+`json:",inline"/.exec(line)?.[1]
      if (embedded) inlined.push(embedded)
      const [, type = '', field = '', option = ''] =
        /^\t\w+\s+(\S+)\s+`json:"(\w+)(?:,(omit\w+))?"/.exec(line) ?? []
      if (writesNull(type, option)) nulls.add(field)
      else if (option !== '' && /^[\w.]+$/.test(type)) leftOut.add(field)
    }
    structs.set(name, { leftOut, nulls, inlined })
  }
  return structs
}

/** Named lists that the stable types write without `omitempty` are here by name. */
function writesNull(type: string, option: string): boolean {
  if (/^(?:\w+\.)?(?:Time|MicroTime|RawExtension)$/.test(type)) return option !== 'omitzero'
  return option === '' && (/^(?:\*|\[\]|map\[)/.test(type) || type === 'Verbs')
}

function allFields(
  { leftOut, nulls, inlined }: GoStruct,
  structs: ReadonlyMap<string, GoStruct>,
): FieldsOfStruct {
  const below = inlined.flatMap((name) => {
    const other = structs.get(name)
    return other ? [allFields(other, structs)] : []
  })
  return {
    leftOut: new Set([...leftOut, ...below.flatMap((each) => [...each.leftOut])]),
    nulls: new Set([...nulls, ...below.flatMap((each) => [...each.nulls])]),
  }
}
