import { isCollection, isScalar, visit, type Document } from 'yaml'
import { YamlError } from './yaml-error.ts'

/**
 * Keys are text in JSON. Throws YamlError, in upstream's words, for those that cannot be: nothing, lists
 * and maps. Infinite ones get the text that they have upstream.
 */
export function settleKeys(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (isCollection(key)) throw new YamlError(`yaml: invalid map key: ${goText(plain(key))}`)
      if (!isScalar(key)) return
      if (key.value === null) {
        const text = plain(value) === null ? '<nil>' : goText(plain(value))
        throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${text}`)
      }
      if (typeof key.value === 'number') key.value = infiniteKeys[`${key.value}`] ?? key.value
    },
  })
}

const infiniteKeys: Readonly<Record<string, string>> = Object.freeze({
  Infinity: '.inf',
  '-Infinity': '-.inf',
  NaN: '.nan',
})

function plain(node: unknown): unknown {
  if (isCollection(node)) return node.toJSON()
  return isScalar(node) ? node.value : node
}

/** As Go's %#v prints what its YAML decodes to. */
function goText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goText).join(', ')}}`
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`
  if (typeof value !== 'object')
    throw new TypeError(`Cannot print a ${typeof value}: it is no YAML`)
  const members = Object.entries(value).map(([key, member]) => `"${key}":${goText(member)}`)
  return `map[interface {}]interface {}{${members.join(', ')}}`
}
