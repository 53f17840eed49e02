/**
 * Writes packages/apiserver/protobuf/generated/messages.json from Kubernetes' Go modules:
 *   node dev/hack/generate-protobuf.ts [--version v0.36.3] [--out <file>]
 * Only facts are taken over: field numbers, names, types and what Go leaves out when it is zero.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    version: { type: 'string', default: 'v0.36.3' },
    out: {
      type: 'string',
      default: join(
        import.meta.dirname,
        '../../packages/apiserver/protobuf/generated/messages.json',
      ),
    },
  },
})

/**
 * Number, JSON name (an empty string if inlined), type, and flags: r repeated, m map, z left out when zero, p
 * may be absent.
 */
type Field = [number, string, string, string]

interface GoField {
  isPointer: boolean
  omitsZero: boolean
  isInline: boolean
  jsonName: string
}

const modules = ['api', 'apimachinery', 'apiextensions-apiserver', 'kube-aggregator']
const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bytes: 'bytes',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  uint32: 'int',
  uint64: 'int',
  double: 'double',
}

/** Messages that stand for a Go slice: nothing is written of one that is nil. */
const nilable = new Set(['Verbs', 'ExtraValue'])

/** Matches versions that no server of this release serves. */
const isUnserved = /alpha|testapigroup|apps\/v1beta|extensions\/v1beta1|admission\/|policy\/v1beta1/

const messages: Record<string, Field[]> = {}
for (const file of modules.flatMap(protoFiles)) readProto(file)
const names = Object.keys(messages).toSorted()
const lines = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(messages[name])}`)
mkdirSync(dirname(values.out), { recursive: true })
writeFileSync(values.out, `{\n${lines.join(',\n')}\n}\n`)

function protoFiles(module: string): string[] {
  const path = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
  const root = join(path, `k8s.io/${module}@${values.version}`)
  return globSync('**/generated.proto', { cwd: root })
    .filter((file) => !isUnserved.test(file))
    .map((file) => join(root, file))
    .toSorted()
}

function readProto(file: string): void {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
  const goPackage = /^package ([\w.]+);/m.exec(text)?.[1] ?? ''
  const structs = goStructs(dirname(file))
  for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{(.*?)^\}/gms)) {
    const fields = [...body.matchAll(/^\s*(optional|repeated|map<string, ?[\w.]+>)\s+(.*?);/gms)]
    messages[openApiName(`${goPackage}.${name}`)] = fields.map(([, label = '', rest = '']) =>
      fieldOf({ label, rest, goPackage, struct: structs.get(name) }),
    )
  }
}

function fieldOf(from: {
  label: string
  rest: string
  goPackage: string
  struct: Map<number, GoField> | undefined
}): Field {
  const { label, goPackage, struct } = from
  const words = from.rest.replace('=', ' ').split(/\s+/)
  const isMap = label.startsWith('map<')
  const type = isMap ? (/, ?([\w.]+)>/.exec(label)?.[1] ?? '') : (words.shift() ?? '')
  const [name = '', number = ''] = words
  const go = struct?.get(Number(number))
  const typeName =
    scalars[type] ??
    openApiName(type.includes('.') ? type.replace(/^\./, '') : `${goPackage}.${type}`)
  const isZeroDropped = go !== undefined && !go.isPointer && go.omitsZero
  const mayBeAbsent = go === undefined || go.isPointer || nilable.has(type) || type === 'bytes'
  const isOne = label !== 'repeated' && !isMap
  const flags = [
    label === 'repeated' ? 'r' : '',
    isMap ? 'm' : '',
    isZeroDropped ? 'z' : '',
    isOne && mayBeAbsent ? 'p' : '',
  ].join('')
  return [Number(number), go?.isInline ? '' : go?.jsonName || name, typeName, flags]
}

/** Returns `io.k8s.api.core.v1.Pod` for `k8s.io.api.core.v1.Pod`. */
function openApiName(name: string): string {
  return name
    .replace(/^k8s\.io\./, 'io.k8s.')
    .replace('apiextensions_apiserver', 'apiextensions-apiserver')
    .replace('kube_aggregator', 'kube-aggregator')
}

/** Returns the struct tags of the package's types, by struct and field number. */
function goStructs(directory: string): Map<string, Map<number, GoField>> {
  const structs = new Map<string, Map<number, GoField>>()
  for (const file of globSync('*.go', { cwd: directory })) {
    if (file.endsWith('.pb.go') || file.startsWith('zz_')) continue
    const text = readFileSync(join(directory, file), 'utf8')
    for (const [, name = '', body = ''] of text.matchAll(/^type (\w+) struct \{(.*?)^\}/gms)) {
      structs.set(name, goFields(body))
    }
  }
  return structs
}

function goFields(body: string): Map<number, GoField> {
  const fields = new Map<number, GoField>()
  const pattern = /^\t(?:\w+\s+)?(\*?)([\w.[\]*]+)\s+`json:"([^"]*)"[^`\n]*? ?protobuf:"([^"]*)"/gm
  for (const [, pointer, , json = '', protobuf = ''] of body.matchAll(pattern)) {
    const [jsonName = '', ...options] = json.split(',')
    const number = Number(protobuf.split(',')[1])
    fields.set(number, {
      isPointer: pointer === '*',
      omitsZero: options.includes('omitempty') || options.includes('omitzero'),
      isInline: options.includes('inline'),
      jsonName,
    })
  }
  return fields
}
