import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Schema } from '@skerry/api'

/** The values by function and field; those of a list's items or a map's values are under `field[]`. */
export type EnumFacts = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/**
 * The published documents leave enums out, though every server serves them; the generated Go code
 * behind both has them: one function per type, its fields at a known depth.
 */
export function readEnums(moduleDir: string): EnumFacts {
  const file = join(moduleDir, 'pkg/generated/openapi/zz_generated.openapi.go')
  const facts = new Map<string, Map<string, string[]>>()
  let fields = new Map<string, string[]>()
  let field = ''
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const type = /^func (schema_\w+)\(/.exec(line)
    if (type) {
      fields = new Map()
      facts.set(type[1] ?? '', fields)
    }
    field = /^\t{5}"(.+)": \{$/.exec(line)?.[1] ?? field
    const found = /^(\t{7}|\t{10})Enum: +\[\]interface\{\}\{(.*)\},$/.exec(line)
    if (!found) continue
    const [, indent, list = ''] = found
    const values: string[] = JSON.parse(`[${list}]`)
    fields.set(indent?.length === 7 ? field : `${field}[]`, values)
  }
  return facts
}

/** The schema with the enums of its fields. */
export function withEnums(name: string, schema: Schema, facts: EnumFacts): Schema {
  const enums = facts.get(functionNameOf(name))
  if (!enums || !schema.properties) return schema
  const properties = { ...schema.properties }
  for (const [path, values] of enums) {
    const field = path.replace(/\[\]$/, '')
    const property = properties[field]
    if (!property) continue
    if (!path.endsWith('[]')) properties[field] = { ...property, enum: values }
    else {
      const inner = property.items ? 'items' : 'additionalProperties'
      properties[field] = { ...property, [inner]: { ...property[inner], enum: values } }
    }
  }
  return { ...schema, properties }
}

/** Returns the function of a definition: schema_k8sio_api_core_v1_Pod describes io.k8s.api.core.v1.Pod. */
function functionNameOf(definition: string): string {
  const path = definition
    .replace(/^io\.k8s\.apiextensions-apiserver\./, '')
    .replace(/^io\.k8s\.api\./, 'k8sio_api_')
  return `schema_${path.replaceAll('.', '_')}`
}
