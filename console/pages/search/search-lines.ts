/** A search over all clusters: what is asked, and the lines that come. Pure. */
import { showReorderingInJson } from '../../data/browser/reordering-marks.ts'
import { objectPage } from '../../data/hub/api-paths.ts'
import { versionOf } from '../../data/fleet/explanation.ts'

/** Kinds that the page offers; a search is for at most eight of them. */
export const searchKinds = [
  'v1/pods',
  'apps/v1/deployments',
  'v1/services',
  'apps/v1/statefulsets',
  'apps/v1/daemonsets',
  'batch/v1/jobs',
  'v1/configmaps',
  'networking.k8s.io/v1/ingresses',
] as const

/** Those of a search that names none. */
export const usualKinds: readonly string[] = searchKinds.slice(0, 3)

export function readKinds(text: string | undefined): readonly string[] {
  const asked = new Set((text ?? '').split(','))
  const known = searchKinds.filter((kind) => asked.has(kind))
  return known.length === 0 ? usualKinds : known
}

export function searchPath(text: string, kinds: readonly string[], limit: number): string {
  const query = new URLSearchParams({
    q: text.trim(),
    kinds: kinds.join(','),
    limit: String(limit),
  })
  return `/hub/v1/search?${query.toString()}`
}

export interface FoundObject {
  readonly cluster: string
  /** A kind such as `apps/v1/deployments`. */
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
}

export interface SearchFound {
  readonly items: readonly FoundObject[]
  /** The clusters that did not answer, and why. */
  readonly failures: readonly (readonly [cluster: string, why: string])[]
  /** Known when the search is over. */
  readonly end?: { readonly clusters: number; readonly asked: number; readonly isCut: boolean }
}

export const nothingFound: SearchFound = { items: [], failures: [] }

interface Line {
  readonly cluster?: string
  readonly items?: readonly Omit<FoundObject, 'cluster'>[]
  readonly error?: string
  readonly end?: NonNullable<SearchFound['end']>
}

/** Adds a line of the answer. */
export function withLine(found: SearchFound, text: string): SearchFound {
  // The hub's own line.
  const { cluster = '', items = [], error, end } = JSON.parse(showReorderingInJson(text)) as Line
  if (end !== undefined) return { ...found, end }
  if (error !== undefined) return { ...found, failures: [...found.failures, [cluster, error]] }
  return { ...found, items: [...found.items, ...items.map((item) => ({ ...item, cluster }))] }
}

export function foundPage({ cluster, kind, name, namespace }: FoundObject): string {
  const at = kind.lastIndexOf('/')
  return objectPage(cluster, {
    ...versionOf(kind.slice(0, at)),
    resource: kind.slice(at + 1),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  })
}
