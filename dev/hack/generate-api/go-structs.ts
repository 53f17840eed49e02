import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface GoField {
  /** The name in JSON. */
  readonly name: string
  /** The type as in the source, except that packages have their own names instead of an import's. */
  readonly type: string
  /** The option `omitempty`, `omitzero` or ''. */
  readonly option: string
  /** The inlined structs that contain it, outer first. */
  readonly within: readonly string[]
}

/** The fields of Go structs in their order, those of inlined ones with them, by the definition's name in OpenAPI. */
export type GoStructs = ReadonlyMap<string, readonly GoField[]>

export interface GoModuleDirs {
  api: string
  apimachinery: string
  apiextensions: string
  aggregator: string
}

interface GoModule {
  /** The prefix of the definitions in OpenAPI, e.g. `io.k8s.api`. */
  readonly prefix: string
  readonly dir: string
  /** The folder of the module that contains the packages of types. */
  readonly folder: string
}

export function readGoStructs(dirs: GoModuleDirs): GoStructs {
  const modules: GoModule[] = [
    { prefix: 'io.k8s.api', dir: dirs.api, folder: '' },
    { prefix: 'io.k8s.apimachinery', dir: dirs.apimachinery, folder: 'pkg/apis/meta' },
    {
      prefix: 'io.k8s.apiextensions-apiserver',
      dir: dirs.apiextensions,
      folder: 'pkg/apis/apiextensions',
    },
    { prefix: 'io.k8s.kube-aggregator', dir: dirs.aggregator, folder: 'pkg/apis/apiregistration' },
  ]
  return new Map(modules.flatMap(readModule))
}

function readModule({ prefix, dir, folder }: GoModule): [string, readonly GoField[]][] {
  const files = readdirSync(join(dir, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(?:^|\/)v[0-9a-z]+\/[a-z_]*types(?:_jsonschema)?\.go$/.test(file))
    .flatMap((file) => {
      const path = join(folder, file).split('/').slice(0, -1).join('.')
      const structs = readStructs(readFileSync(join(dir, folder, file), 'utf8'), path)
      return [...structs].map(([name, struct]): [string, readonly GoField[]] => [
        `${prefix}.${path}.${name}`,
        allFields(struct, structs),
      ])
    })
}

/** The fields of a struct in their order; the name of a type where its fields are inlined. */
type GoStruct = readonly (GoField | string)[]

function readStructs(source: string, path: string): Map<string, GoStruct> {
  const packages = importedPackages(source)
  const own = path.slice(path.lastIndexOf('.') + 1)
  const structs = new Map<string, GoStruct>()
  for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n([^]*?)^\}/gm)) {
    const members: (GoField | string)[] = []
    for (const line of body.split('\n')) {
      const embedded = /^\t([\w.]+)\s+`json:",inline"/.exec(line)?.[1]
      if (embedded) members.push(embedded)
      // A type alone is embedded, too, as metadata is: under a name, its fields stay within it.
      const [, type = '', field = '', option = ''] =
        /^\t(?:\w+\s+)?(\S+)\s+`json:"([\w$-]+)(?:,(omit\w+))?"/.exec(line) ?? []
      if (field !== '')
        members.push({ name: field, type: qualified(type, own, packages), option, within: [] })
    }
    structs.set(name, members)
  }
  return structs
}

/** The names of imported packages by those that this file has for them. */
function importedPackages(source: string): ReadonlyMap<string, string> {
  const imports = source.matchAll(/^\s+(?:(\w+) )?"([\w./-]+)"$/gm)
  return new Map(
    [...imports].map(([, alias, path = '']) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      return [alias ?? name, name]
    }),
  )
}

/** Adds the package to every type that is not Go's own: `[]Container` becomes `[]v1.Container`. */
function qualified(type: string, own: string, packages: ReadonlyMap<string, string>): string {
  return type.replaceAll(/(\w+)(\.\w+)?/g, (word, first: string, rest: string | undefined) => {
    if (rest !== undefined) return `${packages.get(first) ?? first}${rest}`
    return /^[A-Z]/.test(word) ? `${own}.${word}` : word
  })
}

function allFields(struct: GoStruct, structs: ReadonlyMap<string, GoStruct>): readonly GoField[] {
  return struct.flatMap((member) => {
    if (typeof member !== 'string') return member
    const below = allFields(structs.get(member) ?? [], structs)
    return below.map((field) => ({ ...field, within: [member, ...field.within] }))
  })
}
