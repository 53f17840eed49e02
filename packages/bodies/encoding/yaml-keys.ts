import { isAlias, isCollection, isMap, isPair, isScalar, visit, type Document } from 'yaml'
import { YamlError } from './yaml-error.ts'
import { bodiesBounds } from '../limits-table.ts'

/**
 * Converts keys to text, as in JSON. Throws YamlError, in upstream's words, for keys that cannot be
 * text: null, lists and maps. Infinite ones get upstream's text.
 */
export function settleKeys(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (isCollection(key)) {
        throw new YamlError(`yaml: invalid map key: ${new GoPrinter(document).print(key)}`)
      }
      if (!isScalar(key)) return
      if (key.value === null) {
        const isNull = value === null || (isScalar(value) && value.value === null)
        const text = isNull ? '<nil>' : new GoPrinter(document).print(value)
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

const { printedCharactersMax } = bodiesBounds.yamlKeys

/**
 * Prints nodes like Go's %#v of the decoded YAML, and stops when the text is long: the package's
 * own text of a map that is a key of a map doubles with each level.
 */
class GoPrinter {
  readonly #document: Document.Parsed
  #text = ''

  constructor(document: Document.Parsed) {
    this.#document = document
  }

  print(node: unknown): string {
    this.#print(node)
    return this.#text.length > printedCharactersMax
      ? `${this.#text.slice(0, printedCharactersMax)}...`
      : this.#text
  }

  #print(node: unknown): void {
    if (this.#text.length > printedCharactersMax) return
    const found = isAlias(node) ? node.resolve(this.#document) : node
    if (!isCollection(found)) {
      this.#text += goText(isScalar(found) ? found.value : undefined)
      return
    }
    this.#text += isMap(found) ? 'map[interface {}]interface {}{' : '[]interface {}{'
    for (const [at, item] of found.items.entries()) {
      // The text may be full, and there may be a million keys.
      if (this.#text.length > printedCharactersMax) return
      if (at > 0) this.#text += ', '
      if (!isPair(item)) this.#print(item)
      else {
        this.#print(item.key)
        this.#text += ':'
        this.#print(item.value)
      }
    }
    this.#text += '}'
  }
}

function goText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}` : 'interface {}(nil)'
}
