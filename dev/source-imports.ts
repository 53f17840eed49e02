/** Reads from the text of a source file what it imports and exports. Type imports count. */

export type SourceImport = Readonly<{
  /** The text in the quotes: `./file.ts`, `@skerry/base`, `node:fs`. */
  target: string
  /** The names of the target; undefined if the file takes the whole module, or nothing but its effect. */
  names?: readonly string[]
  /** The target is loaded when the line runs. */
  isDynamic: boolean
  /** The names are exported again, under the same name. */
  isReexport: boolean
}>

const named =
  /^(import|export)(?: type)? (?:\w+, )?(\{[^}]*\}|\*(?: as \w+)?|\w+) from '([^'\n]+)'/gm
const bare = /^import '([^'\n]+)'/gm
const dynamic =
  /(?:\{([^{}]*)\}\s*=\s*\(?\s*await\s+)?\bimport\(\s*'([^'\n]+)'[^)]*\)(?:\)\.(\w+))?/g

/** Lists what a source file imports. Import lines in template texts are found only at the start of a line. */
export function importsIn(text: string): SourceImport[] {
  const found: SourceImport[] = []
  for (const [, verb, what = '', target = ''] of text.matchAll(named)) {
    const names = what.startsWith('{') ? { names: namesIn(what) } : {}
    found.push({ target, ...names, isDynamic: false, isReexport: verb === 'export' })
  }
  for (const [, target = ''] of text.matchAll(bare)) {
    found.push({ target, isDynamic: false, isReexport: false })
  }
  for (const [, list, target = '', name] of text.matchAll(dynamic)) {
    const taken = name === undefined ? namesIn(list ?? '') : [name]
    const names = taken.length === 0 ? {} : { names: taken }
    found.push({ target, ...names, isDynamic: true, isReexport: false })
  }
  return found
}

/** Reads `{ type A, b as c, d: e }` as A, b and d. */
function namesIn(list: string): string[] {
  const items = list.replaceAll(/[{}]/g, '').split(',')
  return items
    .map((item) => item.trim().replace(/^type /, ''))
    .map((item) => item.split(/ as |:/)[0]?.trim() ?? '')
    .filter(Boolean)
}
