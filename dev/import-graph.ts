/**
 * Lists which source file imports which, through the doors of packages. It reads the text, so type imports
 * count.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const named = /(?:import|export)(?: type)? (\{[^}]*\}|\* as \w+|\w+) from '([^']+)'/g
const dynamic = /import\(\s*'(\.[^']+)'/g

/** Maps each of the files to the files that it imports, all relative to the repository. */
export function importGraph(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const doors = new Map<string, ReadonlyMap<string, string>>()
  const doorOf = (name: string): ReadonlyMap<string, string> => {
    const known = doors.get(name) ?? readDoor(name === 'testing' ? name : `packages/${name}`)
    doors.set(name, known)
    return known
  }
  return new Map(files.map((file) => [file, importsOf(file, doorOf)]))
}

function importsOf(
  file: string,
  doorOf: (name: string) => ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const text = read(file)
  const imported = new Set<string>()
  for (const [, what = '', target = ''] of text.matchAll(named)) {
    if (target.startsWith('.')) imported.add(join(dirname(file), target))
    const [scope, name] = target.split('/')
    if (scope !== '@skerry' || name === undefined) continue
    for (const each of namesOf(what)) {
      const behind = doorOf(name).get(each)
      if (behind !== undefined) imported.add(behind)
    }
  }
  for (const [, target = ''] of text.matchAll(dynamic)) imported.add(join(dirname(file), target))
  return imported
}

/** Maps each name of a door to the file behind the door. */
function readDoor(directory: string): ReadonlyMap<string, string> {
  const exports = read(join(directory, 'mod.ts')).matchAll(named)
  const entries = [...exports].flatMap(([, what = '', target = '']) =>
    namesOf(what).map((name) => [name, join(directory, target)] as const),
  )
  return new Map(entries)
}

function namesOf(list: string): string[] {
  return list
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map(
      (item) =>
        item
          .trim()
          .replace(/^type /, '')
          .split(' as ')[0] ?? '',
    )
    .filter((name) => name !== '')
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
