/** Lists which source file imports which, through the doors of packages. Type imports count. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importsIn, type SourceImport } from './source-imports.ts'

const root = join(import.meta.dirname, '..')

/** Maps each of the files to the files that it imports, all relative to the repository. */
export function importGraph(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const doors = new Map<string, ReadonlyMap<string, string>>()
  const doorOf = (path: string): ReadonlyMap<string, string> => {
    const known = doors.get(path) ?? readDoor(path)
    doors.set(path, known)
    return known
  }
  return new Map(files.map((file) => [file, filesBehind(file, doorOf)]))
}

function filesBehind(
  file: string,
  doorOf: (path: string) => ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const behind = importsIn(readFileSync(join(root, file), 'utf8')).flatMap((each) => {
    const path = targetOf(file, each)
    if (path === undefined) return []
    if (!each.target.startsWith('@')) return [path]
    return (each.names ?? []).flatMap((name) => doorOf(path).get(name) ?? [])
  })
  return new Set(behind)
}

/** Returns the file that a source file imports, or its door; undefined for a module of Node or npm. */
export function targetOf(
  file: string,
  { target }: Pick<SourceImport, 'target'>,
): string | undefined {
  if (target.startsWith('.')) return join(dirname(file), target)
  const [scope, name = ''] = target.split('/')
  return scope === '@skerry' ? doorPath(name) : undefined
}

/** Returns the path of the door of a package, by the name of the package. */
export function doorPath(name: string): string {
  return name === 'testing' ? 'testing/mod.ts' : `packages/${name}/mod.ts`
}

/** Maps each name of a door to the file behind the door. */
function readDoor(path: string): ReadonlyMap<string, string> {
  const exported = importsIn(readFileSync(join(root, path), 'utf8'))
  const entries = exported.flatMap(({ target, names = [] }) =>
    names.map((name) => [name, join(dirname(path), target)] as const),
  )
  return new Map(entries)
}
