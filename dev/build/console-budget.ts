/** How large the pages of the console may become. Pure. */
import { ExpectedError, exitCodes } from '@skerry/base'

export interface BuiltPart {
  readonly name: string
  readonly gzipBytes: number
  /** The parts that it loads at once. */
  readonly needs: readonly string[]
  /** The parts that it loads when they are first shown. */
  readonly loadsLate: readonly string[]
}

const kibibyte = 1_024

/** Compressed sizes. The first page decides how soon anything is seen on a slow link. */
export const consoleBudget = Object.freeze({
  firstBytes: 150 * kibibyte,
  lateBytes: 125 * kibibyte,
  /** All parts together, which nobody loads at once. */
  totalBytes: 480 * kibibyte,
})

export interface ConsoleSizes {
  readonly firstBytes: number
  readonly totalBytes: number
  /** For each part that is loaded late, what it adds to the first ones. */
  readonly lateBytes: ReadonlyMap<string, number>
}

/** Adds up what the first page loads, what each later part adds to it, and everything. */
export function consoleSizes(parts: readonly BuiltPart[], htmlBytes: number): ConsoleSizes {
  const byName = new Map(parts.map((part) => [part.name, part]))
  const sum = (names: Iterable<string>): number =>
    [...names].reduce((total, name) => total + (byName.get(name)?.gzipBytes ?? 0), 0)
  const isFirst = ({ name }: BuiltPart): boolean =>
    /(?:^|\/)(?:main-\w+\.js|style-\w+\.css)$/.test(name)
  const first = closure(
    parts.filter(isFirst).map(({ name }) => name),
    byName,
  )
  const late = new Set(parts.flatMap(({ loadsLate }) => loadsLate))
  const added = [...late].map((name): [string, number] => {
    const all = closure([name], byName)
    return [name, sum([...all].filter((each) => !first.has(each)))]
  })
  return {
    firstBytes: sum(first) + htmlBytes,
    totalBytes: sum(byName.keys()) + htmlBytes,
    lateBytes: new Map(added),
  }
}

/** Throws if a part is larger than it may be. */
export function checkConsoleBudget(parts: readonly BuiltPart[], htmlBytes: number): void {
  const sizes = consoleSizes(parts, htmlBytes)
  const checks: readonly (readonly [what: string, bytes: number, max: number])[] = [
    ['the first page', sizes.firstBytes, consoleBudget.firstBytes],
    ['the whole console', sizes.totalBytes, consoleBudget.totalBytes],
    ...[...sizes.lateBytes].map(([name, bytes]) => [name, bytes, consoleBudget.lateBytes] as const),
  ]
  const over = checks.filter(([, bytes, max]) => bytes > max)
  if (over.length === 0) return
  const texts = over.map(
    ([what, bytes, max]) =>
      `${what} has ${Math.ceil(bytes / kibibyte)} KiB, at most ${max / kibibyte}`,
  )
  throw new ExpectedError(
    `Cannot build console: compressed, ${texts.join('; ')}. Load what is seldom shown with import()`,
    exitCodes.failure,
  )
}

function closure(
  names: readonly string[],
  parts: ReadonlyMap<string, BuiltPart>,
): ReadonlySet<string> {
  const found = new Set<string>()
  const due = [...names]
  for (let name = due.pop(); name !== undefined; name = due.pop()) {
    if (found.has(name)) continue
    found.add(name)
    due.push(...(parts.get(name)?.needs ?? []))
  }
  return found
}
