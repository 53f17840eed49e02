import {
  isStatusError,
  type ControllerRevision,
  type KubeObject,
  type LabelSelector,
} from '@skerry/api'
import { keyOfObject, parseKey, resources, type ResourceClient } from '@skerry/client'
import { claimOwned, type ControllerContext } from '@skerry/controller-runtime'
import { canonicalText } from '../pods/pod-template.ts'
import {
  newRevision,
  planRevision,
  sortRevisions,
  type RevisionOwner,
} from './controller-revisions.ts'

export interface RevisionHolder<O extends KubeObject> {
  owner: O
  owners: Pick<ResourceClient<O>, 'get'>
  selector: LabelSelector
}

/** Returns the owner's revisions, oldest first. Orphans that its selector matches are adopted. */
export async function claimRevisions<O extends KubeObject>(
  { owner, owners, selector }: RevisionHolder<O>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ControllerRevision[]> {
  const claim = { owner, owners, selector, resource: resources.controllerRevisions }
  return sortRevisions(await claimOwned(claim, context, signal))
}

export interface WrittenRevision {
  readonly revision: ControllerRevision
  readonly collisionCount: number | undefined
}

/** Ensures that the newest revision is the owner's template. */
export async function writeRevision(
  wanted: RevisionOwner,
  sorted: readonly ControllerRevision[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<WrittenRevision> {
  const client = context.client(resources.controllerRevisions)
  const plan = planRevision(wanted, sorted)
  const { collisionCount } = wanted
  switch (plan.action) {
    case 'keep':
      return { revision: plan.revision, collisionCount }
    case 'renumber': {
      const revision = { ...plan.revision, revision: plan.number }
      return { revision: await client.update(revision, signal), collisionCount }
    }
    case 'create':
      return createRevision({ wanted, number: plan.revision.revision }, client, signal)
  }
}

/** Two templates with the same hash get different names by counting collisions. */
async function createRevision(
  { wanted, number }: { wanted: RevisionOwner; number: number },
  client: ResourceClient<ControllerRevision>,
  signal: AbortSignal,
): Promise<WrittenRevision> {
  for (let { collisionCount } = wanted; ; collisionCount = (collisionCount ?? 0) + 1) {
    const revision = newRevision({ ...wanted, collisionCount }, number)
    try {
      return { revision: await client.create(revision, signal), collisionCount }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
    const found = await client.get(parseKey(keyOfObject(revision)), signal)
    if (canonicalText(found.data) === canonicalText(revision.data)) {
      return { revision: found, collisionCount }
    }
  }
}
