import { isJsonObject, memberOf, type JsonObject } from '@skerry/api'

/**
 * Returns true if a rule's fieldPath leads to a field of the JSON schema: `.spec.a`, `.map['key']`.
 * List items cannot be named.
 */
export function isFieldPath(path: string, schema: Readonly<JsonObject>): boolean {
  let at: unknown = schema
  let rest = path
  while (rest !== '') {
    const found = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\[abfnrtv'\\])*)'\])/.exec(rest)
    if (!found || !isJsonObject(at)) return false
    const name = found[1] ?? (found[2] ?? '').replaceAll(/\\(.)/g, '$1')
    const { properties, additionalProperties } = at
    if (isJsonObject(properties)) at = memberOf(properties, name)
    else if (isJsonObject(additionalProperties)) at = additionalProperties
    else return false
    if (at === undefined) return false
    rest = rest.slice(found[0].length)
  }
  return true
}
