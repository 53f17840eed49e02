import type { App, AppKind, AppReading } from '../children/app-kind.ts'
import { childKey, isRefusal, keyOfChild, type Child } from '../children/child.ts'
import { specDifferences, type SpecDifference } from './spec-differences.ts'

export interface ChildDifference extends SpecDifference {
  /** The group that the child is for, a template or changes of its own, or somebody who changed the child itself. */
  readonly by: 'Group' | 'Application' | 'Edit'
  readonly why: string
}

interface Compared<T extends App> {
  readonly kind: AppKind<T>
  readonly app: T
  readonly wanted: AppReading['wanted']
  readonly child: Child
}

/** Returns the fields in which a child differs from what all groups have in common. None if it is not wanted. */
export function childDifferences<T extends App>({
  kind,
  app,
  wanted: all,
  child,
}: Compared<T>): ChildDifference[] {
  const key = keyOfChild(child)
  const wanted = all.find((each) => childKey(each.kind, each.name) === key)
  if (!wanted || isRefusal(wanted.manifest)) return []
  const { spec } = wanted.manifest
  const common = kind.common?.(app, wanted)
  const byGroup = common
    ? specDifferences(common.spec, spec).map((each): ChildDifference => {
        if (!isOfPlace(each.path)) return { ...each, by: 'Application', why: common.why }
        return { ...each, by: 'Group', why: `the group ${wanted.group}` }
      })
    : []
  // The server and others add fields; only those that the application sets can be edits of it.
  const byHand = specDifferences(spec, child.spec)
    .filter(({ from }) => from !== undefined)
    .filter(({ from, to }) => !(to === undefined && isEmpty(from)))
    .map((each): ChildDifference => ({ ...each, by: 'Edit', why: 'a change of the child itself' }))
  return [...byGroup, ...byHand]
}

/** Pods find their place by these fields, and a workload its own pods. */
function isOfPlace(path: string): boolean {
  return /^(?:selector|template\.metadata\.labels|template\.spec\.(?:nodeSelector|affinity))/.test(
    path,
  )
}

/** Servers leave empty values out. */
function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === '' ||
    value === 0 ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
