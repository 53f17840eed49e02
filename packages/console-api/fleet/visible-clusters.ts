import type { Authorizer, UserInfo } from '@skerry/apiserver'
import { RecentMap, type Clock } from '@skerry/base'
import { maySeeCluster } from '@skerry/gateway'
import { consoleBounds } from '../limits-table.ts'
import type { FleetBoard } from './fleet-board.ts'

interface Known {
  readonly namesStep: number
  readonly atMs: number
  readonly names: Promise<ReadonlySet<string>>
}

const { keptMs, usersMax, clustersPerTurn } = consoleBounds.visibleClusters

/** Knows which clusters each user may see. All tabs of a user share the answer, which is at most ten seconds old. */
export class VisibleClusters {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #board: Pick<FleetBoard, 'rows' | 'namesStep'>
  readonly #known = new RecentMap<string, Known>(usersMax)

  constructor(board: Pick<FleetBoard, 'rows' | 'namesStep'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#board = board
    this.#clock = clock
  }

  async of(user: UserInfo, authorizer: Authorizer): Promise<ReadonlySet<string>> {
    const key = JSON.stringify([user.name, user.uid, user.groups, user.extra])
    const atMs = this.#clock.monotonicMs()
    const known = this.#known.use(key)
    const { namesStep } = this.#board
    if (known?.namesStep === namesStep && atMs - known.atMs < keptMs) return await known.names
    const names = this.#ask(user, authorizer)
    this.#known.set(key, { namesStep, atMs, names })
    // The next question is asked again.
    names.catch(() => this.#known.delete(key))
    return await names
  }

  async #ask(user: UserInfo, authorizer: Authorizer): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    let count = 0
    for (const name of Array.from(this.#board.rows.keys())) {
      if ((count += 1) % clustersPerTurn === 0) await nextTurn()
      if (await maySeeCluster(name, { user, authorizer })) seen.add(name)
    }
    return seen
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
