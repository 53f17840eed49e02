import { equalJson, type JsonObject } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import { withApplied, type Child, type WantedChild } from '../children/child.ts'
import { contentHash } from '../children/content-hash.ts'
import { appSetWords, type YurtAppSet } from './yurt-app-set.ts'

const limitDefault = 10
const kind = 'ControllerRevision'

/** The history of an application's workload. */
export interface Revisions {
  /** The name of the revision that the application asks for. */
  readonly current: string
  readonly wanted: WantedChild
  /** Returns true for an older revision that the history has room for. */
  readonly keeps: (child: Child) => boolean
}

/** Returns the revision of the application's workload, which is an older one if the content is the same. */
export function revisionsOf(app: YurtAppSet, owned: readonly Child[]): Revisions {
  const data = contentOf(app)
  const known = owned.filter((child) => child.kind === kind)
  const same = known.filter((each) => equalJson(each['data'], data)).toSorted(byNumber)
  const newest = Math.max(0, ...known.map(numberOf))
  const equal = same.at(-1)
  const { name: appName = '' } = app.metadata
  const name = equal?.metadata.name ?? `${appName}-${contentHash(data).slice(0, 10)}`
  const number = equal && numberOf(equal) === newest ? newest : newest + 1
  const others = known.filter((each) => each !== equal).toSorted(byNumber)
  const limit = app.spec?.revisionHistoryLimit ?? limitDefault
  const kept = new Set(others.slice(Math.max(0, others.length - Math.max(0, limit - 1))))
  return {
    current: name,
    wanted: { group: '', kind, name, manifest: manifestOf({ app, name, number, data }) },
    keeps: (child) => kept.has(child),
  }
}

function manifestOf(revision: {
  readonly app: YurtAppSet
  readonly name: string
  readonly number: number
  readonly data: JsonObject
}): Child {
  const { app, name, number, data } = revision
  const { namespace = '', labels = {}, name: owner = '' } = app.metadata
  return withApplied('', {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      name,
      namespace,
      labels: {
        ...labels,
        [appSetWords.owner]: owner,
        // The part of the name that tells revisions apart.
        'controller.kubernetes.io/hash': name.slice(owner.length + 1),
      },
      ownerReferences: [controllerReference(app)],
    },
    revision: number,
    data,
  })
}

/** The form is that of a patch that brings the workload back. */
function contentOf({ spec }: YurtAppSet): JsonObject {
  return { spec: { workload: { ...spec?.workload, $patch: 'replace' } } }
}

function byNumber(a: Child, b: Child): number {
  return numberOf(a) - numberOf(b)
}

function numberOf({ revision }: Child): number {
  return typeof revision === 'number' ? revision : 0
}
