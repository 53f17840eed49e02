/** Where the fields of an object stand in its YAML, and what a server's schema says of them. Pure. */
import { yamlLanguage } from '@codemirror/lang-yaml'
import { viewLimits } from '../../limits-table.ts'
import {
  fieldsAt,
  isClosed,
  item,
  schemaAt,
  valuesAt,
  type KindSchema,
  type PathStep,
  type SchemaField,
} from './open-api.ts'

type Tree = ReturnType<typeof yamlLanguage.parser.parse>
type Node = Tree['topNode']

/** Reads the kind of the object from its first level; empty texts if it is not written there. */
export function yamlKind(text: string): { readonly apiVersion: string; readonly kind: string } {
  const read = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*["']?([\\w./-]+)`, 'm').exec(text)?.[1] ?? ''
  return { apiVersion: read('apiVersion'), kind: read('kind') }
}

/** A place in a text, and what is odd there. */
export interface YamlFinding {
  readonly from: number
  readonly to: number
  /** `spec.template.spec.containers[].image` */
  readonly path: string
  /** The values that the field may have; undefined if the server knows no such field. */
  readonly allowed?: readonly string[]
}

/** Finds fields that the server does not know, and values that it does not allow. Below an unknown field it finds nothing. */
export function yamlFindings(text: string, kind: KindSchema): YamlFinding[] {
  const findings: YamlFinding[] = []
  for (const { key, name, above, value } of fieldsOf(text)) {
    if (findings.length >= viewLimits.findingsMax) return findings
    const parent = schemaAt(kind, above)
    if (parent === undefined) continue
    const path = [...above, name]
    if (schemaAt(kind, path) === undefined) {
      if (isClosed(parent)) findings.push({ from: key.from, to: key.to, path: pathText(path) })
      continue
    }
    const allowed = valuesAt(kind, path)
    if (allowed === undefined || value === undefined) continue
    const given = scalarOf(text, value)
    if (given === '' || allowed.includes(given)) continue
    findings.push({ from: value.from, to: value.to, path: pathText(path), allowed })
  }
  return findings
}

interface YamlField {
  readonly key: Node
  readonly name: string
  /** The path of the object that the field is in. */
  readonly above: readonly PathStep[]
  /** The value, if it is a plain or quoted text in one place. */
  readonly value: Node | undefined
}

/** Lists all fields in their order. */
function fieldsOf(text: string): YamlField[] {
  const fields: YamlField[] = []
  const path: PathStep[] = []
  yamlLanguage.parser.parse(text).iterate({
    enter: ({ name: type, node }) => {
      if (type === 'Item') path.push(item)
      if (type !== 'Pair') return
      const key = node.getChild('Key')
      const name = key === null ? '' : scalarOf(text, key)
      if (key !== null) fields.push({ key, name, above: [...path], value: valueOf(node) })
      path.push(name)
    },
    leave: ({ name: type }) => {
      if (type === 'Item' || type === 'Pair') path.pop()
    },
  })
  return fields
}

function valueOf(pair: Node): Node | undefined {
  const last = pair.lastChild
  const isScalar = last?.name === 'Literal' || last?.name === 'QuotedLiteral'
  return isScalar ? (last ?? undefined) : undefined
}

function scalarOf(text: string, { from, to }: Node): string {
  const raw = text.slice(from, to)
  return /^(?:"[^"\\]*"|'[^']*')$/.test(raw) ? raw.slice(1, -1) : raw
}

function pathText(path: readonly PathStep[]): string {
  return path
    .map((step) => (step === item ? '[]' : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

export interface YamlCompletion {
  /** Where the word begins that a choice replaces. */
  readonly from: number
  readonly fields: readonly SchemaField[]
  readonly values: readonly string[]
  /** The column of the field, by which what follows it is indented. */
  readonly column: number
  /** The field has its colon already. */
  readonly hasColon: boolean
}

/** Returns what may stand at a place of a text; undefined where it is not for a schema to say. */
export function yamlCompletion(
  text: string,
  at: number,
  kind: KindSchema,
): YamlCompletion | undefined {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const before = text.slice(lineStart, at)
  const word = /[\w./-]*$/.exec(before)?.[0] ?? ''
  const from = at - word.length
  const prefix = before.slice(0, before.length - word.length)
  const common = { from, column: prefix.length, hasColon: false }
  if (/^\s*(?:- +)*$/.test(prefix)) return completeName(text, { ...common, at }, kind)
  const named = /^\s*(?:- +)*["']?[\w./-]+["']?: +["']?$/.exec(prefix)
  if (named === null) return undefined
  const keyFrom = lineStart + (/^\s*(?:- +)*/.exec(prefix)?.[0].length ?? 0)
  const pair = pairAt(yamlLanguage.parser.parse(text), keyFrom)
  const values = pair === undefined ? undefined : valuesAt(kind, pathOf(text, pair))
  return values === undefined ? undefined : { ...common, fields: [], values }
}

interface NamePlace extends Pick<YamlCompletion, 'from' | 'column' | 'hasColon'> {
  readonly at: number
}

/** A half-written name is a value for YAML, so that it is read as if its colon were there. */
function completeName(
  text: string,
  { at, ...place }: NamePlace,
  kind: KindSchema,
): YamlCompletion | undefined {
  const rest = /^[\w./-]*/.exec(text.slice(at))?.[0] ?? ''
  const end = at + rest.length
  const hasColon = text[end] === ':'
  if (!hasColon && !/^[ \t]*(?:\n|$)/.test(text.slice(end))) return undefined
  const filler = end === place.from ? 'x' : ''
  const whole = hasColon ? text : `${text.slice(0, end)}${filler}:${text.slice(end)}`
  const pair = pairAt(yamlLanguage.parser.parse(whole), place.from)
  if (pair === undefined) return undefined
  const above = pathOf(whole, pair).slice(0, -1)
  const values = valuesAt(kind, above) ?? []
  const present = siblings(whole, pair)
  const fields = fieldsAt(kind, above).filter(({ name }) => !present.has(name))
  return { ...place, hasColon, fields, values }
}

/** Returns the pair whose key begins there. */
function pairAt(tree: Tree, at: number): Node | undefined {
  for (let node: Node | null = tree.resolveInner(at, 1); node !== null; node = node.parent) {
    if (node.name === 'Key') return node.from === at ? (node.parent ?? undefined) : undefined
  }
  return undefined
}

function pathOf(text: string, pair: Node): PathStep[] {
  const path: PathStep[] = []
  for (let node: Node | null = pair; node !== null; node = node.parent) {
    if (node.name === 'Item') path.unshift(item)
    if (node.name !== 'Pair') continue
    const key = node.getChild('Key')
    path.unshift(key === null ? '' : scalarOf(text, key))
  }
  return path
}

/** The names of the other fields of the same object. */
function siblings(text: string, pair: Node): ReadonlySet<string> {
  const pairs = pair.parent?.getChildren('Pair') ?? []
  return new Set(
    pairs.flatMap((each) => {
      const key = each.getChild('Key')
      return key === null || each.from === pair.from ? [] : [scalarOf(text, key)]
    }),
  )
}
