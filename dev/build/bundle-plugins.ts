import { readFile, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { build as runBuild, type BuildOptions, type Plugin } from 'esbuild'

const doorImport = /\b(import|export) \{([^}]*)\} from '@skerry\/([a-z-]+)'/g
const lateDoorImport = /(\{([^{}]*)\} = await import\()'@skerry\/([a-z-]+)'\)/g
const doorExport = /\bexport (type )?\{([^}]*)\} from '\.\/([^']+)'/g

/**
 * Turns imports through a package's door into imports of the files behind it. The bundler splits by what a
 * file imports, used or not: through the doors every role would load, and hold in memory, every file of every
 * package from which it imports anything (1.2 MB of code in a node).
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
        const found = [...text.matchAll(doorImport), ...text.matchAll(lateDoorImport)]
        const names = new Set(found.map((match) => match[3] ?? ''))
        const opened = new Map<string, ReadonlyMap<string, string>>()
        for (const name of names) opened.set(name, await doorOf(name))
        const contents = text
          .replaceAll(doorImport, (whole, verb: string, list: string, name: string) =>
            throughDoor({ whole, verb, list }, opened.get(name)),
          )
          .replaceAll(lateDoorImport, (whole, start: string, list: string, name: string) => {
            const file = fileOfAll(list, opened.get(name))
            return file === undefined ? whole : `${start}${JSON.stringify(file)})`
          })
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

/** Writes one line, so that line numbers stay; an unknown import is left as it is. */
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

/** Returns the file that has all these names; undefined if several have them. */
function fileOfAll(
  list: string,
  door: ReadonlyMap<string, string> | undefined,
): string | undefined {
  const names = list.split(',').map((text) => text.trim().split(':')[0] ?? '')
  const files = new Set(names.filter(Boolean).map((name) => door?.get(name)))
  const [file] = files
  return files.size === 1 ? file : undefined
}

/** Maps each name that a package's door exports to its file. */
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
 * Turns imports of Node's modules into `require`. An import makes Node read all exports of the module, some
 * of which load more: that of node:http loads all of fetch (5 MB resident), others load Node's own
 * certificates, web cryptography or diagnostic reports.
 */
export const requireBuiltins: Plugin = {
  name: 'require-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    )
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: builtinModule(path),
      loader: 'js',
    }))
  },
}

/**
 * The exports that Node loads only when they are read, and that are large: `import * as` would read them. The
 * default export has them.
 */
const loadedLate: Readonly<Record<string, readonly string[]>> = Object.freeze({
  'node:crypto': ['getRandomValues', 'subtle', 'webcrypto'],
  'node:http': ['CloseEvent', 'MessageEvent', 'WebSocket'],
  'node:tls': ['rootCertificates'],
})

/** Reads each export when it is imported: the bundler leaves out the others. */
function builtinModule(path: string): string {
  const left = ['default', ...(loadedLate[path] ?? [])]
  const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter(
    (name) => !left.includes(name),
  )
  const lines = names.map((name) => `export const ${name}=/* @__PURE__ */(()=>builtin.${name})()`)
  const builtin = `const builtin=/* @__PURE__ */require(${JSON.stringify(path)})`
  return [builtin, 'export default builtin', ...lines].join('\n')
}

/**
 * Parts of CommonJS packages that no code here calls. Such packages are bundled whole, and these parts with
 * their imports take 270 kB. Those of gRPC are its server and what chooses between servers; our clients name one.
 */
const uncalled = [
  'prom-client/lib/(cluster|defaultMetrics|pushgateway|summary)',
  'pino/lib/(multistream|transport)',
  'cpu-features/lib/index',
  '@grpc/grpc-js/build/src/(server|server-interceptors|server-credentials|experimental|orca)',
  '@grpc/grpc-js/build/src/load-balancer-(outlier-detection|weighted-round-robin)',
]
const uncalledFile = new RegExp(`node_modules/(${uncalled.join('|')})\\.js$`)

/** Leaves these files out; a call of one throws. gRPC registers its parts by a call of `setup`, which does nothing. */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup(build) {
    build.onLoad({ filter: uncalledFile }, ({ path }) => {
      const [file = path] = /[^/]+\/(?:lib|build)\/.*$/.exec(path) ?? []
      const text = JSON.stringify(`Cannot use ${file}: it is not in the bundle`)
      const contents = `module.exports=function(){throw new Error(${text})};module.exports.setup=()=>{}`
      return { contents, loader: 'js' }
    })
  },
}

/**
 * zod's way to JSON Schema, which no code here calls: 26 kB in each role that checks a file. Each schema asks for these
 * functions when it is made, and calls them only when somebody asks it for its JSON Schema.
 */
const jsonSchemaFile =
  /node_modules\/zod\/v4\/core\/(to-json-schema|json-schema-(generator|processors))\.js$/

/** Leaves JSON Schema out of zod; a call throws. */
export const leaveOutJsonSchema: Plugin = {
  name: 'leave-out-json-schema',
  setup(build) {
    build.onLoad({ filter: jsonSchemaFile }, ({ path }) => {
      const text = JSON.stringify(`Cannot use zod/${basename(path)}: it is not in the bundle`)
      const lines = [
        `const fail=()=>{throw new Error(${text})}`,
        'export const toJSONSchema=fail,JSONSchemaGenerator=fail',
        'export const createToJSONSchemaMethod=()=>fail',
        'export const createStandardJSONSchemaMethod=()=>fail',
      ]
      return { contents: lines.join('\n'), loader: 'js' }
    })
  },
}

/**
 * Gives two files of ssh2 the directory that they ask for when they load, without using it, and that a module
 * without CommonJS lacks.
 */
export const nameDirectory: Plugin = {
  name: 'name-directory',
  setup(build) {
    build.onLoad(
      { filter: /node_modules\/ssh2\/lib\/(agent|.*\/poly1305)\.js$/ },
      async ({ path }) => {
        const text = await readFile(path, 'utf8')
        return { contents: `var __dirname='';${text}`, loader: 'js' }
      },
    )
  },
}

/** Files of base that every role loads, at different times. They import nothing, and no two declare one name. */
const leaves =
  /^(as-error|bounded-queue|broken-invariant|expected-error|message-of|real-timers|wake-flag)\.ts$/

/**
 * Makes one file of these. Each would be a chunk of its own, because the bundler splits by the set of commands
 * that need a file; a chunk costs an open file and a line of imports in most others.
 */
export function joinLeaves(baseDirectory: string): Plugin {
  return {
    name: 'join-leaves',
    setup(build) {
      build.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path)
        const isLeaf = dirname(file) === baseDirectory && leaves.test(basename(file))
        return isLeaf ? { path: baseDirectory, namespace: 'leaves' } : undefined
      })
      build.onLoad({ filter: /.*/, namespace: 'leaves' }, async () => {
        const names = (await readdir(baseDirectory)).filter((name) => leaves.test(name))
        const texts = names.toSorted().map((name) => readFile(join(baseDirectory, name), 'utf8'))
        return { contents: (await Promise.all(texts)).join('\n'), loader: 'ts' }
      })
    },
  }
}

/** Inlines the YAML thread's code as a file: a single-file bundle cannot start a thread by its name. */
export function inlineThread(options: BuildOptions): Plugin {
  return {
    name: 'inline-thread',
    setup(build) {
      build.onLoad({ filter: /\/yaml-thread-entry\.ts$/ }, async ({ path }) => {
        const { outputFiles } = await runBuild({
          ...options,
          entryPoints: [join(dirname(path), 'yaml-thread.ts')],
          format: 'cjs',
          banner: {},
          write: false,
        })
        const code = JSON.stringify(outputFiles[0]?.text ?? '')
        return { contents: `export const yamlThreadEntry={code:${code}}`, loader: 'js' }
      })
    },
  }
}
