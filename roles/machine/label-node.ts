import * as z from 'zod'
import { isStatusError, type Node, type Taint } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { machineBounds } from './limits-table.ts'

const settingsSchema = z.object({
  labels: z.record(z.string(), z.string()).optional(),
  taints: z
    .array(
      z.object({
        key: z.string(),
        value: z.string().optional(),
        effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      }),
    )
    .optional(),
})
const changeSchema = z.object({ former: z.array(settingsSchema), wanted: settingsSchema })

/** The labels and taints that a node gets, and those that it may have from earlier wishes of the same author. */
export type NodeChange = z.infer<typeof changeSchema>

/** The owner of these fields in a node's managedFields. */
const owner = 'skerry-edge-cluster'

/** Reads a change from JSON. Throws an ExpectedError if it is something else. */
export function parseNodeChange(text: string): NodeChange {
  try {
    return changeSchema.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new ExpectedError(`Cannot read the labels and taints: ${why}`, exitCodes.usage)
  }
}

/** Gives a node labels and taints, and takes former ones back. Throws an ExpectedError if the site has no such node. */
export async function labelNode(
  cluster: ClusterClient,
  { name, change }: { readonly name: string; readonly change: NodeChange },
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const nodes = cluster.resource(resources.nodes)
  for (let attempt = 1; ; attempt += 1) {
    const node = await ifThere(nodes.get({ name }, signal))
    if (node === undefined) {
      throw new ExpectedError(`Cannot label node ${name}: the site has none`, exitCodes.failure)
    }
    const { patch, result } = planNodeChange(node, change)
    try {
      if (patch !== undefined)
        await nodes.patch({ name, type: 'merge', patch, fieldManager: owner }, signal)
      print(`node ${name}: ${result}`)
      return
    } catch (error) {
      // Controllers taint nodes as well, and a list of taints is written as a whole.
      if (!isStatusError(error, 'Conflict') || attempt >= machineBounds.conflictsMax) throw error
    }
  }
}

interface NodePlan {
  /** A merge patch; undefined if the node is as wanted. */
  readonly patch: object | undefined
  readonly result: string
}

/**
 * Decides how a node gets its labels and taints. It loses a former one only if that still has the value that it was given:
 * another value is somebody else's wish.
 */
function planNodeChange(node: Node, { former, wanted }: NodeChange): NodePlan {
  const labels = planLabels(node.metadata.labels ?? {}, former, wanted.labels ?? {})
  const before = node.spec?.taints ?? []
  const taints = planTaints(before, former, wanted.taints ?? [])
  const gone = Object.values(labels).filter((value) => value === null).length
  const counts = [
    [Object.keys(labels).length - gone, 'labels set'],
    [gone, 'labels removed'],
    [taints.filter((taint) => !before.includes(taint)).length, 'taints set'],
    [
      before.filter((taint) => !taints.some((each) => isSamePlace(each, taint))).length,
      'taints removed',
    ],
  ] as const
  const changes = counts.filter(([count]) => count > 0)
  if (changes.length === 0)
    return { patch: undefined, result: 'its labels and taints are as wanted' }
  const { resourceVersion = '' } = node.metadata
  return {
    patch: { metadata: { resourceVersion, labels }, spec: { taints } },
    result: changes.map(([count, what]) => `${what}: ${count}`).join(', '),
  }
}

function planLabels(
  present: Readonly<Record<string, string>>,
  former: NodeChange['former'],
  wanted: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const changes: Record<string, string | null> = {}
  for (const [key, value] of former.flatMap(({ labels = {} }) => Object.entries(labels))) {
    if (!Object.hasOwn(wanted, key) && present[key] === value) changes[key] = null
  }
  for (const [key, value] of Object.entries(wanted))
    if (present[key] !== value) changes[key] = value
  return changes
}

type WantedTaint = NonNullable<NodeChange['wanted']['taints']>[number]

/** Returns the taints of the node after the change; those that stay are the same objects. */
function planTaints(
  present: readonly Taint[],
  former: NodeChange['former'],
  wanted: readonly WantedTaint[],
): readonly Taint[] {
  const given = former.flatMap(({ taints = [] }) => taints)
  const kept = present.filter((taint) => {
    const next = wanted.find((each) => isSamePlace(each, taint))
    if (next !== undefined) return isSame(next, taint)
    return !given.some((each) => isSame(each, taint))
  })
  const added = wanted.filter((each) => !kept.some((taint) => isSame(each, taint)))
  return [...kept, ...added]
}

/** Kubernetes counts two taints with one key and effect as the same, whatever their values are. */
function isSamePlace(
  one: Pick<Taint, 'key' | 'effect'>,
  other: Pick<Taint, 'key' | 'effect'>,
): boolean {
  return one.key === other.key && one.effect === other.effect
}

function isSame(one: WantedTaint | Taint, other: WantedTaint | Taint): boolean {
  return isSamePlace(one, other) && (one.value ?? '') === (other.value ?? '')
}
