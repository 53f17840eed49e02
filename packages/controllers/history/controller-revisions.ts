import type { ControllerRevision, KubeObject, PodTemplateSpec } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import { canonicalText, templateHash } from '../pods/pod-template.ts'
import { dataHash } from './data-hash.ts'

/** The label that names a revision on the objects made from it. */
export const controllerRevisionHashLabel = 'controller-revision-hash'

/** Defines how a kind names its revisions: the hashed content, and the label with the hash. */
export interface RevisionNaming {
  readonly label: string
  /** Returns the hash. `collisionCount` is undefined if there were no collisions yet. */
  hash(template: PodTemplateSpec, collisionCount: number | undefined): string
}

export const daemonSetRevisions: RevisionNaming = Object.freeze({
  label: controllerRevisionHashLabel,
  hash: templateHash,
})

export const statefulSetRevisions: RevisionNaming = Object.freeze({
  label: 'controller.kubernetes.io/hash',
  hash: (template: PodTemplateSpec, collisionCount: number | undefined) =>
    dataHash(revisionData(template), collisionCount ?? 0),
})

/** Sorts the oldest first; with equal numbers, the older object first. */
export function sortRevisions(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return revisions.toSorted((a, b) => {
    if (a.revision !== b.revision) return a.revision - b.revision
    const first = `${a.metadata.creationTimestamp ?? ''} ${a.metadata.name}`
    const second = `${b.metadata.creationTimestamp ?? ''} ${b.metadata.name}`
    return first < second ? -1 : 1
  })
}

/**
 * Returns the stored form of a revision: a strategic patch that restores its template, as kubectl
 * applies it.
 */
function revisionData(template: PodTemplateSpec): Record<string, unknown> {
  return { spec: { template: { ...template, $patch: 'replace' } } }
}

export function templateOfRevision(revision: ControllerRevision): PodTemplateSpec {
  // revisionData wrote this, here or in another implementation of the same format.
  const data = revision.data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } }
  const { $patch: _, ...template } = data.spec?.template ?? {}
  return template
}

export interface RevisionOwner {
  owner: KubeObject
  template: PodTemplateSpec
  collisionCount: number | undefined
  naming: RevisionNaming
}

export function newRevision(
  { owner, template, collisionCount, naming }: RevisionOwner,
  revision: number,
): ControllerRevision {
  const hash = naming.hash(template, collisionCount)
  const { name = '', namespace, annotations } = owner.metadata
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name.slice(0, 223)}-${hash}`,
      ...(namespace ? { namespace } : {}),
      labels: { ...template.metadata?.labels, [naming.label]: hash },
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    data: revisionData(template),
    revision,
  }
}

export type RevisionPlan =
  /** The newest revision already has this template. */
  | { readonly action: 'keep'; readonly revision: ControllerRevision }
  /** An older revision has it (a rollback) and becomes the newest. */
  | { readonly action: 'renumber'; readonly revision: ControllerRevision; readonly number: number }
  | { readonly action: 'create'; readonly revision: ControllerRevision }

/** `sorted` is oldest first. */
export function planRevision(
  wanted: RevisionOwner,
  sorted: readonly ControllerRevision[],
): RevisionPlan {
  const text = canonicalText(wanted.template)
  const equal = sorted.findLast((each) => canonicalText(templateOfRevision(each)) === text)
  const newest = sorted.at(-1)
  const number = (newest?.revision ?? 0) + 1
  if (!equal) return { action: 'create', revision: newRevision(wanted, number) }
  if (equal === newest) return { action: 'keep', revision: equal }
  return { action: 'renumber', revision: equal, number }
}

/** Returns the oldest revisions beyond the limit that no pod and no status names. */
export function planTruncation(
  sorted: readonly ControllerRevision[],
  live: ReadonlySet<string>,
  limit: number,
): ControllerRevision[] {
  const history = sorted.filter(({ metadata }) => !live.has(metadata.name ?? ''))
  return history.slice(0, Math.max(0, history.length - limit))
}
