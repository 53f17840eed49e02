/** Finds exported names that no other file uses, or only tests. It reads the text of the sources. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { doorPath, targetOf } from './import-graph.ts'
import { importsIn } from './source-imports.ts'

const root = join(import.meta.dirname, '..')

const declaration =
  /^export (?:async )?(?:function\*?|const|let|class|abstract class|(interface|type)) (\w+)/

export interface Export {
  /** `path/of/file.ts name`. */
  key: string
  /** All files that import the name, from its file or through a door. */
  users: readonly string[]
}

/** Lists the values that the files export, and the types, except for types that another export of the file mentions. */
export function exportsOf(files: readonly string[]): Export[] {
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const users = usersOf(texts)
  return files.flatMap((file) => {
    // A statement at the top of a file starts in its first column. Generators have others in templates.
    const text = (texts.get(file) ?? '').replaceAll(/(?<=[\s(]|raw)`(?:\\.|[^`\\])*`/gs, '``')
    const statements = text.split(/^(?=[a-z/])/m)
    const exported = statements.filter((text) => declaration.test(text))
    return exported.flatMap((text) => {
      const [, type, name = ''] = declaration.exec(text) ?? []
      const mention = new RegExp(`\\b${name}\\b`)
      const isMentioned = exported.some((other) => other !== text && mention.test(other))
      if (type !== undefined && isMentioned) return []
      const key = `${file} ${name}`
      return [{ key, users: [...(users.get(key) ?? [])] }]
    })
  })
}

/** Maps `file name` to the files that import it. The names of a door lead to the files behind it. */
function usersOf(texts: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const behind = namesBehindDoors(texts)
  const users = new Map<string, Set<string>>()
  for (const [file, text] of texts) {
    for (const each of importsIn(text)) {
      const target = targetOf(file, each)
      if (target === undefined || (isDoor(file) && each.target.startsWith('.'))) continue
      for (const name of each.names ?? namesTaken(text, texts.get(target))) {
        const key = `${target} ${name}`
        for (const used of [key, behind.get(key) ?? key]) {
          users.set(used, (users.get(used) ?? new Set()).add(file))
        }
      }
    }
  }
  return users
}

function namesBehindDoors(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const doors = [...texts].filter(([file]) => isDoor(file))
  const entries = doors.flatMap(([door, text]) =>
    importsIn(text).flatMap((each) => {
      const file = targetOf(door, each) ?? ''
      const names = each.names ?? namesDeclared(texts.get(file))
      return names.map((name) => [`${door} ${name}`, `${file} ${name}`] as const)
    }),
  )
  return new Map(entries)
}

function isDoor(file: string): boolean {
  const [, name = 'testing'] = /^packages\/([^/]+)\//.exec(file) ?? []
  return file === doorPath(name)
}

/** Returns the exports of a module that a file mentions, for a file that takes the whole module. */
function namesTaken(text: string, target?: string): string[] {
  return namesDeclared(target).filter((name) => new RegExp(`\\b${name}\\b`).test(text))
}

function namesDeclared(text = ''): string[] {
  return text.split('\n').flatMap((line) => declaration.exec(line)?.[2] ?? [])
}
