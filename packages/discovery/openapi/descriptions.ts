/** The descriptions of a type and its fields. */
export interface TypeDescription {
  readonly description?: string
  readonly fields: Readonly<Record<string, string>>
}

/** Looks up a type by upstream's OpenAPI name, e.g. io.k8s.api.core.v1.PodSpec. */
export type Descriptions = (definition: string) => TypeDescription | undefined

export const noDescriptions: Descriptions = () => undefined

const declaredPackages: readonly (readonly [prefix: string, folder: string])[] = [
  ['io.k8s.api.', ''],
  ['io.k8s.apimachinery.pkg.apis.', ''],
  ['io.k8s.apiextensions-apiserver.pkg.apis.', ''],
]

/**
 * Returns the file of the npm package kubernetes-types (Apache-2.0) that declares a definition and
 * has upstream's descriptions as comments, e.g. `core/v1.d.ts`.
 */
function declarationFileOf(definition: string): string | undefined {
  const [prefix] = declaredPackages.find(([start]) => definition.startsWith(start)) ?? []
  if (prefix === undefined) return undefined
  const [folder, version] = definition.slice(prefix.length).split('.')
  return folder !== undefined && version !== undefined ? `${folder}/${version}.d.ts` : undefined
}

/**
 * Loads the descriptions of these definitions, reading each file once. `readText` returns a file of
 * the package, or undefined if that is not installed, so that there are no descriptions.
 */
export async function loadDescriptions(
  definitions: Iterable<string>,
  readText: (file: string) => Promise<string | undefined>,
): Promise<Descriptions> {
  const files = new Set([...definitions].flatMap((name) => declarationFileOf(name) ?? []))
  const types = new Map<string, ReadonlyMap<string, TypeDescription>>()
  for (const file of files) {
    const text = await readText(file)
    if (text !== undefined) types.set(file, parseDeclarations(text))
  }
  return (definition) => {
    const name = definition.slice(definition.lastIndexOf('.') + 1)
    return types.get(declarationFileOf(definition) ?? '')?.get(name)
  }
}

/** Returns the comments of the interfaces in a TypeScript declaration file. */
export function parseDeclarations(text: string): Map<string, TypeDescription> {
  const types = new Map<string, TypeDescription>()
  const tokens = text.matchAll(
    /\/\*\*(?<comment>.*?)\*\/|^export interface (?<type>\w+)|^ {4}(?:readonly )?"?(?<field>[\w$-]+)"?\??:/gms,
  )
  let comment: string | undefined
  let fields: Record<string, string> = {}
  for (const { groups } of tokens) {
    if (groups?.['comment'] !== undefined) {
      comment = cleanComment(groups['comment'])
      continue
    }
    if (groups?.['type'] !== undefined) {
      fields = {}
      types.set(groups['type'], { ...(comment ? { description: comment } : {}), fields })
    } else if (groups?.['field'] !== undefined && comment !== undefined) {
      fields[groups['field']] = comment
    }
    comment = undefined
  }
  return types
}

function cleanComment(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*\s?/, '').trim())
  return lines
    .join('\n')
    .replaceAll(String.raw`*\/`, '*/')
    .trim()
}
