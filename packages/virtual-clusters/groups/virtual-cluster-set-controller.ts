import {
  equalJson,
  isStatusError,
  type AnyObject,
  type CustomResourceDefinition,
} from '@skerry/api'
import { resources, type TypedResource } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import {
  withCondition,
  setLabel,
  virtualClusterResource,
  virtualClusterSetResource,
  type GroupSource,
  type VirtualClusterSet,
  type VirtualClusterSetStatus,
} from '@skerry/fleet-kinds'
import {
  foreignSources,
  labelGroups,
  type ForeignSource,
  type SourceGroup,
} from './group-sources.ts'
import type { GroupState } from './group-state.ts'
import { isNotedGone, withoutGoneSince } from './plan-leaving.ts'
import { planSet } from './plan-set.ts'
import { virtualClusterBounds } from '../limits-table.ts'

const { settleMs } = virtualClusterBounds.virtualClusterSetController
const sourceCondition = 'SourceFound'

/**
 * Creates a VirtualCluster for each group of a set's source, and deletes those whose group has been gone for
 * the set's grace period.
 */
export function virtualClusterSetController(state: GroupState): ControllerDefinition {
  const followed = new FollowedSources()
  return {
    name: 'virtual-cluster-set-controller',
    workers: 1,
    watches: [
      watch(virtualClusterSetResource, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name ?? '']),
      }),
      watch(virtualClusterResource, { keysOf: ({ object }) => setOf(object.metadata.labels) }),
      whenAnythingChanges(state, followed),
    ],
    async reconcile(name, context, signal) {
      const set = context.informer(virtualClusterSetResource).get({ name })
      if (set === undefined || set.metadata.deletionTimestamp || !state.isKnown()) return
      const found = followed.groupsOf(set.spec.source, context)
      const client = context.client(virtualClusterResource)
      const owned = context
        .informer(virtualClusterResource)
        .list()
        .filter(({ metadata }) => setOf(metadata.labels).includes(name))
      if (found.groups === undefined) {
        const restarted = found.isAbsent ? owned.filter(isNotedGone).map(withoutGoneSince) : []
        for (const virtualCluster of restarted) await client.update(virtualCluster, signal)
        await writeStatus(set, { found }, context, signal)
        return {}
      }
      const plan = planSet(set, found.groups, owned, context.clock.now())
      const problems = [...plan.problems]
      for (const virtualCluster of plan.create) {
        try {
          await client.create(virtualCluster, signal)
        } catch (error) {
          if (!isStatusError(error, 'AlreadyExists')) throw error
          const taken = virtualCluster.metadata.name ?? ''
          problems.push(`VirtualCluster "${taken}" is there already, and is not of this set`)
        }
      }
      for (const virtualCluster of plan.update) await client.update(virtualCluster, signal)
      for (const gone of plan.remove) await client.delete({ name: gone }, signal)
      const total = found.groups.length + plan.waiting.length
      await writeStatus(set, { found, problems, total }, context, signal)
      return plan.nextMs === undefined ? {} : { requeueAfterMs: plan.nextMs }
    },
  }
}

function setOf(labels: Readonly<Record<string, string>> = {}): string[] {
  const name = labels[setLabel]
  return name ? [name] : []
}

/** Watches nodes, definitions of foreign kinds, and objects of the followed ones. */
function whenAnythingChanges(state: GroupState, followed: FollowedSources): Watch {
  return {
    resource: resources.customResourceDefinitions,
    subscribe(context) {
      const lookAgain = (): void => {
        for (const { metadata } of context.informer(virtualClusterSetResource).list()) {
          context.requeueAfter(metadata.name ?? '', settleMs)
        }
      }
      const stack = new DisposableStack()
      stack.use(state.onChange(lookAgain))
      stack.use(
        context.informer(resources.customResourceDefinitions).onChange(({ object }) => {
          const isForeign = Object.values(foreignSources).some(
            (source) => crdName(source) === object.metadata.name,
          )
          if (isForeign) lookAgain()
        }),
      )
      stack.use(followed.onChange(lookAgain))
      return stack
    },
  }
}

interface FoundGroups {
  /** Undefined if the source does not exist yet or could not be read completely. */
  readonly groups?: readonly SourceGroup[]
  /** The source itself is not there: groups that come back with it are to find what they had. */
  readonly isAbsent?: boolean
  readonly message: string
}

/** The foreign kinds that some set uses; each is watched once its definition exists. */
class FollowedSources {
  readonly #followed = new Map<string, TypedResource<AnyObject>>()
  readonly #listeners = new Set<() => void>()

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  groupsOf({ label, ...foreign }: GroupSource, context: ControllerContext): FoundGroups {
    if (label !== undefined) {
      const nodes = context.informer(resources.nodes).list()
      return { groups: labelGroups(label.key, nodes), message: `Label ${label.key} of nodes.` }
    }
    const source = foreignSourceOf(foreign)
    if (source === undefined) return { message: 'The source names nothing that is known here.' }
    const name = crdName(source)
    const crd = context.informer(resources.customResourceDefinitions).get({ name })
    const version = crd && storedVersion(crd)
    if (version === undefined) {
      return { isAbsent: true, message: `This cluster has no kind ${name}; existing objects stay.` }
    }
    const informer = context.informer(this.#resourceOf(source, version, context))
    if (!informer.hasSynced()) return { message: `Objects of ${name} are being read.` }
    const groups = informer.list().map((object) => source.groupOf(object))
    return { groups, message: `Objects of ${name}.` }
  }

  #resourceOf(
    { group, resource }: ForeignSource,
    version: string,
    context: ControllerContext,
  ): TypedResource<AnyObject> {
    const key = `${version}/${resource}.${group}`
    const known = this.#followed.get(key)
    if (known) return known
    const followed = { group, version, resource, isNamespaced: false }
    this.#followed.set(key, followed)
    const informer = context.informer<AnyObject>(followed)
    informer.onChange(() => {
      for (const listener of this.#listeners) listener()
    })
    return followed
  }
}

function foreignSourceOf(asked: Omit<GroupSource, 'label'>): ForeignSource | undefined {
  if (asked.nodeGroups) return foreignSources.nodeGroups
  if (asked.nodeUnits) return foreignSources.nodeUnits
  return asked.nodePools && foreignSources.nodePools
}

function crdName({ group, resource }: ForeignSource): string {
  return `${resource}.${group}`
}

function storedVersion({ spec, metadata }: CustomResourceDefinition): string | undefined {
  if (metadata.deletionTimestamp) return undefined
  return spec?.versions?.find(({ served, storage }) => served === true && storage === true)?.name
}

interface SetFindings {
  readonly found: FoundGroups
  /** Undefined if the groups are not known: the status then keeps its number. */
  readonly total?: number
  readonly problems?: readonly string[]
}

async function writeStatus(
  set: VirtualClusterSet,
  { found, problems, total }: SetFindings,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const isFound = found.groups !== undefined
  const condition = {
    type: sourceCondition,
    status: isFound ? 'True' : 'False',
    reason: isFound ? 'Found' : 'NotFound',
    message: found.message,
  } as const
  const known = set.status ?? {}
  const status: VirtualClusterSetStatus = {
    ...(total === undefined ? { ...known } : { virtualClusters: total }),
    conditions: withCondition(known.conditions ?? [], condition, context.clock.now()),
  }
  if (problems !== undefined && problems.length > 0) status.problems = [...problems]
  if (equalJson(status, known)) return
  const { status: _before, ...rest } = set
  await context.client(virtualClusterSetResource).updateStatus({ ...rest, status }, signal)
}
