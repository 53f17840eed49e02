import type { CelValue } from '@skerry/cel'

/**
 * `Object.spec` must be the value of the field `spec` of `Object`, and so on inwards. Returns the
 * violations.
 */
export function misplacedTypes(value: CelValue, path: string): string[] {
  if (value === null || typeof value !== 'object' || !('celKind' in value)) return []
  if (value.celKind === 'list') {
    const items = Array.from({ length: value.size }, (_item, index) => value.at(index))
    return items.flatMap((item) => misplacedTypes(item, path))
  }
  if (value.celKind === 'map') {
    return [...value.keys()].flatMap((key) => misplacedTypes(value.get(key) ?? null, path))
  }
  const { typeName } = value
  const own =
    typeName === path
      ? []
      : [
          `unexpected type name ${JSON.stringify(typeName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
        ]
  const inner = [...value.fields()].flatMap((field) =>
    misplacedTypes(value.get(field) ?? null, `${path}.${field}`),
  )
  return [...own, ...inner]
}
