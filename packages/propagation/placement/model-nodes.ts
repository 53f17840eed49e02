import type { Cluster } from '@skerry/fleet-kinds'
import { roomOf, type NodeRoom } from './node-room.ts'
import { propagationBounds } from '../limits-table.ts'

const { podsMax } = propagationBounds.modelNodes

/**
 * Returns the cluster's nodes as its resource models describe them: each with the minimum of its grade, low
 * grades first. Returns undefined if the cluster does not count its nodes by grade.
 */
export function modelNodes({ spec, status }: Cluster): readonly NodeRoom[] | undefined {
  const counted = status?.resourceSummary?.allocatableModelings ?? []
  const models = spec.resourceModels ?? []
  if (counted.length === 0 || models.length === 0) return undefined
  if (counted.some(({ count }) => count < 0)) return undefined
  const rooms = new Map(
    models.map(({ grade, ranges }) => {
      const least = Object.fromEntries(ranges.map(({ name, min }) => [name, min]))
      return [grade, roomOf(least, podsMax)]
    }),
  )
  return [...rooms]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([grade, room]) => Array.from({ length: nodesOf(counted, grade) }, () => room))
}

function nodesOf(counted: readonly { grade: number; count: number }[], grade: number): number {
  return counted.reduce((sum, each) => sum + (each.grade === grade ? each.count : 0), 0)
}
