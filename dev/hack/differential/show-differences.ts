import type { Difference } from '../../differential/compare.ts'
import type { Answer } from '../../differential/run-script.ts'
import type { Exchange, Script } from '../../differential/script.ts'

const pathsMax = 3
const shownMax = 500

/**
 * Shows the differences in a generated script: the first about each collection, with its request. Later ones
 * may follow from it, and are only counted.
 */
export function showGenerated(
  script: Script,
  found: readonly Difference[],
  answers: { upstream: readonly Answer[]; ours: readonly Answer[] },
): string {
  const counted = found.filter((each) => !isVersionOnly(each))
  const differing = new Set(counted.map(({ exchange }) => exchange))
  const seen = new Set<string>()
  const lines: string[] = []
  for (const exchange of script.exchanges.filter(({ name }) => differing.has(name))) {
    const collection = collectionOf(exchange)
    if (seen.has(collection)) continue
    seen.add(collection)
    const { name, method, target, body } = exchange
    lines.push(`${name}\n  ${method} ${target}`, `  ${short(body.replaceAll('\n', '\n  '))}`)
    const mine = counted.filter((each) => each.exchange === name)
    if (mine.some(({ path }) => path === 'status')) {
      lines.push(
        `    upstream ${said(answers.upstream, name)}`,
        `    ours     ${said(answers.ours, name)}`,
      )
      continue
    }
    for (const { path, upstream, ours } of mine.slice(0, pathsMax)) {
      lines.push(`    ${path}`, `      upstream ${text(upstream)}`, `      ours     ${text(ours)}`)
    }
  }
  lines.push(`${script.name}: ${differing.size} of ${script.exchanges.length} differ`)
  return lines.join('\n')
}

/** Reports a difference of version names only, which a single additional write elsewhere would cause. */
function isVersionOnly({ upstream, ours }: Difference): boolean {
  const version = /^<version-\d+>$/
  return version.test(String(upstream)) && version.test(String(ours))
}

function collectionOf({ target }: Exchange): string {
  const [path = ''] = target.split('?')
  return path
    .split('/')
    .slice(0, path.includes('/namespaces/') ? 7 : 5)
    .join('/')
}

function said(answers: readonly Answer[], exchange: string): string {
  const { status, body } = answers.find(({ name }) => name === exchange) ?? {}
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : ''
  return `${status} ${text(message)}`
}

function text(value: unknown): string {
  return value === undefined ? 'nothing' : short(JSON.stringify(value))
}

function short(value: string): string {
  return value.length > shownMax ? `${value.slice(0, shownMax)}…` : value
}
