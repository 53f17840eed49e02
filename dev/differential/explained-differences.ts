import type { Difference } from './compare.ts'
import { broken } from './run-script.ts'

/** A difference that stays, and why. docs/differences.md shows the same list. */
export interface Explanation {
  readonly name: string
  readonly reason: string
  /** The place of the difference; all given patterns must match. */
  readonly script?: RegExp
  readonly exchange?: RegExp
  readonly path: RegExp
  /** Upstream's value there. */
  readonly upstream?: unknown
  /** Both are texts of which this makes the same. */
  readonly sameWithout?: (text: string) => string
}

export const explanations: readonly Explanation[] = Object.freeze([
  {
    name: 'Columns of tables have no description',
    reason: 'Skerry takes facts from upstream, not sentences. kubectl does not show descriptions',
    path: /columnDefinitions\.\d+\.description$/,
  },
  {
    name: 'IPAddress rows have as many cells as columns',
    reason: 'Upstream adds an age that belongs to no column, so that no client shows it',
    script: /kind-networking-ipaddresses/,
    path: /rows\.0\.cells\.2$/,
  },
  {
    name: "Tables and metadata-only answers keep all of a DaemonSet's metadata",
    reason:
      'Upstream leaves out the template generation annotation there, though the object has it',
    script: /^(kind-apps-daemonsets|generated-\d+)$/,
    exchange: /^(?!\d)|^\d+ DaemonSet: /,
    path: /metadata\.annotations$/,
  },
  {
    name: 'A method that HTTP does not know gets 400',
    reason: 'Node refuses it before there is a request to answer; upstream returns 405',
    script: /^paths$/,
    exchange: /^method: unknown$/,
    path: /^(status|headers\.(content-type|audit-id)|body)$/,
  },
  {
    name: 'Documents of OpenAPI v3 may be compressed',
    reason: 'Upstream compresses those of v2 only. The header Vary shows it',
    script: /^crd-open-api$/,
    path: /^headers\.vary$/,
  },
  {
    name: 'An error about invalid YAML has other words',
    reason: 'The parser words the error. Status and reason are the same',
    script: /^(paths|writes)$/,
    exchange: /^(body: YAML that is none|apply: no YAML)$/,
    path: /^body\.message$/,
  },
  {
    name: "A strategic merge patch with a map in place of a list item's key gets 422",
    reason: 'Upstream breaks the connection',
    script: /^(patch-crashes|generated-\d+)$/,
    path: /^status$/,
    upstream: broken,
  },
  {
    name: 'Objects in messages are written as JSON',
    reason:
      'Upstream prints the fields of its internal Go types, or compares two such texts by line. The rest of the message is the same',
    path: /\.message$/,
    sameWithout: withoutObjects,
  },
  {
    name: "A refusal of a node's change to a claim does not list the lines that differ",
    reason:
      'Upstream compares two texts of its internal Go types. The rest of the message is the same',
    script: /^node-writes$/,
    path: /^body\.message$/,
    sameWithout: (message) => message.replace(/: @@ .*$/s, ''),
  },
])

export function explanationOf(difference: Difference): Explanation | undefined {
  return explanations.find(
    ({ script, exchange, path, sameWithout, ...wanted }) =>
      (script?.test(difference.script) ?? true) &&
      (exchange?.test(difference.exchange) ?? true) &&
      path.test(difference.path) &&
      (!('upstream' in wanted) || wanted.upstream === difference.upstream) &&
      (sameWithout === undefined || isSameWithout(sameWithout, difference)),
  )
}

function isSameWithout(rest: (text: string) => string, { upstream, ours }: Difference): boolean {
  if (typeof upstream !== 'string' || typeof ours !== 'string') return false
  return rest(upstream) === rest(ours)
}

/** Replaces each object after "Invalid value", and each comparison, by a mark. */
export function withoutObjects(message: string): string {
  const lines = message.split('\n')
  const isCompared = (line: string): boolean => /^[-+@ ]/.test(line)
  const text = lines
    .map((line, at) => (at > 0 && isCompared(line) ? '<compared>' : line))
    .filter((line, at, all) => line !== '<compared>' || all[at - 1] !== '<compared>')
    .join('\n')
    .replace(/<compared>\n$/, '<compared>')
  const [start = '', ...values] = text.split('Invalid value: ')
  return [start, ...values.map(withoutObject)].join('Invalid value: ')
}

function withoutObject(text: string): string {
  const quoted = /^"\{(?:[^"\\]|\\.)*"/.exec(text)
  if (quoted) return `<object>${text.slice(quoted[0].length)}`
  if (!text.startsWith('{')) return text
  const end = endOfObject(text)
  return end === undefined ? text : `<object>${text.slice(end)}`
}

/** Returns the end of the JSON object with which the text begins; undefined if it does not begin with one. */
function endOfObject(text: string): number | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1
    if (token === '}') depth -= 1
    if (depth === 0) return index + 1
  }
  return undefined
}
