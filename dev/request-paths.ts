/** Reads the request paths of ARCHITECTURE.md, in the notation that the section explains, and checks them. */
import { importGraph } from './import-graph.ts'

interface PathStep {
  readonly name: string
  /** The name before it, and the arrow between them. If omitted, nothing joins the name to another. */
  readonly from?: { readonly name: string; readonly arrow: '→' | '⇢' } | undefined
}

/** Packages in which two files may meet by chance: those with the vocabulary of everything. */
const vocabulary = /^packages\/(api|base|client|kinds)\/|-table\.ts$/

/** Returns what is wrong with the paths in a section of text, and how many arrows join two names. */
export function checkPaths(
  section: string,
  sources: readonly string[],
): { readonly wrong: string[]; readonly checked: number } {
  const graph = importGraph(sources)
  const importersOf = (target: string): string[] =>
    sources.filter((file) => graph.get(file)?.has(target))
  const areJoined = (one: string, other: string): boolean => {
    const contracts = [...(graph.get(one) ?? [])].filter((file) => !vocabulary.test(file))
    const importers = importersOf(one).filter((file) => !file.endsWith('/mod.ts'))
    return (
      graph.get(other)?.has(one) === true ||
      contracts.some((file) => graph.get(other)?.has(file)) ||
      importers.some((file) => graph.get(file)?.has(other))
    )
  }
  const packages = new Set(sources.flatMap((file) => /^packages\/([^/]+)\//.exec(file)?.[1] ?? []))
  const steps = section.split(/^- /m).flatMap((path) => stepsOf(path, packages))
  const wrong = steps.flatMap(({ name, from }) => {
    const file = fileOf(name, sources)
    if (file === undefined) return [`not one file is named ${name}`]
    const before = from && fileOf(from.name, sources)
    if (from === undefined || before === undefined) return []
    if (from.arrow === '→') {
      return graph.get(before)?.has(file) ? [] : [`${from.name} does not import ${name}`]
    }
    if (graph.get(before)?.has(file)) return [`${from.name} imports ${name}: write →`]
    if (areJoined(before, file)) return []
    return [`nothing joins ${from.name} and ${name}: name what is between them`]
  })
  return { wrong, checked: steps.filter(({ from }) => from !== undefined).length }
}

/** Finds the file of `name`, or of `folder/name` if several have the name; undefined if not exactly one fits. */
function fileOf(name: string, sources: readonly string[]): string | undefined {
  const [base = '', folder] = name.split('/').toReversed()
  const found = sources.filter(
    (file) =>
      file.endsWith(`/${base}.ts`) && (folder === undefined || file.includes(`/${folder}/`)),
  )
  return found.length === 1 ? found[0] : undefined
}

/** Reads the arrows, and names in parentheses behind the file that calls them. The name of a package is not a step. */
function stepsOf(path: string, packages: ReadonlySet<string>): PathStep[] {
  const steps: PathStep[] = []
  let last: string | undefined
  let outer: string | undefined
  let arrow: '→' | '⇢' | undefined
  const tokens = path.matchAll(/(→|⇢)|([().:;])|`([a-z0-9/-]+)`|[^\s`→⇢().:;]+/g)
  let isAfterPackage = false
  for (const [, found, mark, name] of tokens) {
    const isPackage = name !== undefined && packages.has(name)
    if (found === '→' || found === '⇢') arrow = found
    else if (mark === '(') [outer, arrow] = [last, '→']
    else if (mark === ')') [last, outer, arrow] = [outer, undefined, undefined]
    else if (mark !== undefined) {
      if (isAfterPackage && mark === ':') continue
      ;[last, arrow] = [outer, outer === undefined ? undefined : '→']
    } else if (name !== undefined && !isPackage) {
      const before = outer ?? last
      const from = before === undefined || arrow === undefined ? undefined : { name: before, arrow }
      steps.push({ name, from })
      if (outer === undefined) [last, arrow] = [name, undefined]
    } else if (name === undefined && arrow === '⇢') [last, arrow] = [undefined, undefined]
    isAfterPackage = isPackage
  }
  return steps
}
