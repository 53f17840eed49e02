import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

const doorImport = /\b(import|export) \{([^}]*)\} from '@skerry\/([a-z-]+)'/g
const doorExport = /\bexport (type )?\{([^}]*)\} from '\.\/([^']+)'/g

/**
 * Imports through a package's door become imports of the files behind it. The bundler splits by
 * what a file imports, used or not: through the doors every role would reach, and hold in memory,
 * every file of every package that it imports anything of (1.2 MB of code in a node).
 */
export function openDoors(packageDirectory: string): Plugin {
  const doors = new Map<string, Promise<ReadonlyMap<string, string>>>()
  const doorOf = (name: string): Promise<ReadonlyMap<string, string>> => {
    const known = doors.get(name) ?? readDoor(join(packageDirectory, name, 'mod.ts'))
    doors.set(name, known)
    return known
  }
  return {
    name: 'open-doors',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const names = new Set(Array.from(text.matchAll(doorImport), (match) => match[3] ?? ''))
        const opened = new Map<string, ReadonlyMap<string, string>>()
        for (const name of names) opened.set(name, await doorOf(name))
        const contents = text.replaceAll(
          doorImport,
          (whole, verb: string, list: string, name: string) =>
            throughDoor({ whole, verb, list }, opened.get(name)),
        )
        return { contents, loader: 'ts' }
      })
    },
  }
}

interface DoorImport {
  whole: string
  verb: string
  list: string
}

/** One line, so that line numbers stay; an import of something unknown is left as it is. */
function throughDoor(
  { whole, verb, list }: DoorImport,
  door: ReadonlyMap<string, string> | undefined,
): string {
  const lines: string[] = []
  for (const item of list.split(',').map((text) => text.trim())) {
    if (item === '' || item.startsWith('type ')) continue
    const [name = ''] = item.split(' as ')
    const file = door?.get(name)
    if (file === undefined) return whole
    lines.push(`${verb} { ${item} } from ${JSON.stringify(file)}`)
  }
  return lines.join('; ')
}

/** Which file of a package has each name that its door gives out. */
async function readDoor(path: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const [, , list = '', file = ''] of (await readFile(path, 'utf8')).matchAll(doorExport)) {
    for (const item of list.split(',').map((text) => text.trim())) {
      // A name that the door changes cannot be looked up in the file.
      if (item !== '' && !item.includes(' as ') && !item.startsWith('type '))
        files.set(item, join(dirname(path), file))
    }
  }
  return files
}

/**
 * Importing node:http as a module makes Node read all its exports, one of which loads the whole of
 * fetch (5 MB resident). Requiring it does not.
 */
export const requireHttp: Plugin = {
  name: 'require-http',
  setup(build) {
    build.onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    )
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
      loader: 'js',
    }))
  },
}
