/**
 * Writes packages/controllers/pods/template-layout-table.ts: names, order and types of the fields of
 * upstream's Go type of a pod template, on which its hash depends. Development only; needs Go.
 *   node dev/hack/generate-template-layout.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findModule } from './generate-api/upstream.ts'

const version = 'v0.36.3'
const target = join(import.meta.dirname, '../../packages/controllers/pods/template-layout-table.ts')

/** Types that are not written field by field. */
const opaque = new Set(['v1.Time', 'resource.Quantity', 'intstr.IntOrString'])
const basic = /^(string|bool|int32|int64|uint8|byte)$/

const declared = new Map<string, string>()
for (const [module, file] of [
  ['k8s.io/api', 'core/v1/types.go'],
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1/types.go'],
] as const) {
  const source = readFileSync(join(findModule(version, module), file), 'utf8')
  for (const [, name = '', body = ''] of source.matchAll(
    /^type (\w+) (struct \{\n[^]*?^\}|\S+)/gm,
  )) {
    if (!declared.has(name)) declared.set(name, body)
  }
}

const layout = new Map<string, string[] | string>()
collect('v1.PodTemplateSpec')
const entries = [...layout].toSorted(([a], [b]) => (a < b ? -1 : 1))
const lines = entries.map(([name, type]) =>
  typeof type === 'string'
    ? `  '${name}': '${type}',`
    : `  '${name}': [\n${type.map((field) => `    '${field}',`).join('\n')}\n  ],`,
)
writeFileSync(
  target,
  `/**
 * Written by dev/hack/generate-template-layout.ts from ${version}. A text is what a named type stands for;
 * a list has the fields of a struct in order: Go's name, its type, and the name in JSON, which is empty
 * where the fields stand among those of the outer struct.
 */
const templateLayout: Readonly<Record<string, string | readonly string[]>> = Object.freeze({
${lines.join('\n')}
})
`,
)

function collect(type: string): void {
  const name = type.replace(/^(\*|\[\])+/, '')
  const [, key, value] = /^map\[([\w.]+)\](.+)$/.exec(name) ?? []
  if (key !== undefined && value !== undefined) {
    collect(key)
    return collect(value)
  }
  if (basic.test(name) || opaque.has(name) || layout.has(name)) return
  const body = declared.get(name.replace(/^v1\./, ''))
  if (name === 'types.UID' || body === undefined) return void layout.set(name, 'string')
  if (!body.startsWith('struct')) {
    layout.set(name, qualified(body))
    return collect(qualified(body))
  }
  const fields = fieldsOf(body)
  layout.set(name, fields)
  for (const field of fields) collect(field.split(' ')[1] ?? '')
}

function fieldsOf(body: string): string[] {
  return [...body.matchAll(/^\t(?:(\w+)[ \t]+)?(\S+)[ \t]+`json:"(\w*)/gm)].map(
    ([, name, type = '', json = '']) =>
      `${name ?? type.split('.').at(-1)} ${qualified(type)} ${json}`.trimEnd(),
  )
}

/** Returns the type as Go prints it: with the name of its package. */
function qualified(type: string): string {
  return type
    .replaceAll('metav1.', 'v1.')
    .replaceAll(/\bbyte\b/g, 'uint8')
    .replaceAll(/(?<![\w.])([A-Z]\w*)/g, 'v1.$1')
}
