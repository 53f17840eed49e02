import { rm } from 'node:fs/promises'
import { makeDirectoryDurably } from '@skerry/base'
import { planHandover } from '@skerry/edge-apps'
import type { RoleContext } from '../../runtime/role-context.ts'
import type { UnitOrder } from '../../site/units/unit-order.ts'
import { unitPaths, type UnitState } from './unit-state.ts'
import { fillSite, sealSite } from './unit-store.ts'

export interface UnitHands {
  readonly dataDir: string
  readonly context: Pick<RoleContext, 'clock' | 'random' | 'log' | 'metrics' | 'signal'>
  /** Fetches a content of the parent into a file. Rejects unless the bytes have this digest. */
  readonly fetch: (digest: string, path: string) => Promise<void>
  /** Resolves when the unit's control plane has ended on all its servers, with its state in a file here. */
  readonly closeSite: () => Promise<void>
  /** Stops it on this machine, and leaves the others of an etcd to themselves. */
  readonly abandonSite: () => Promise<void>
}

/**
 * Does what an order asks of the unit's own control plane, and returns the state that is to be written then; undefined if there is
 * nothing to do. It may be cut off anywhere, and is done again from the state that is on the disk.
 */
export async function stepUnit(
  state: UnitState,
  { parent, settings }: Pick<UnitOrder, 'parent' | 'settings'>,
  { dataDir, context, fetch, closeSite, abandonSite }: UnitHands,
): Promise<UnitState | undefined> {
  const step = planHandover.unit({ unit: state.record, parent })
  switch (step.act) {
    case 'none':
      return undefined
    case 'note':
      return { ...state, settings, record: step.record }
    case 'fill': {
      const path = unitPaths(dataDir).content(step.content)
      await makeDirectoryDurably(unitPaths(dataDir).directory)
      await fetch(step.content, path)
      await fillSite(dataDir, path, context, context.signal)
      // It holds Secrets in plain text.
      await rm(path, { force: true })
      return { ...state, settings, record: step.record }
    }
    case 'seal': {
      const { generation } = step
      // Nobody takes a content from a unit that was given up as lost.
      const isLost = parent.phase === 'own'
      if (isLost) await abandonSite()
      else await closeSite()
      if (isLost) return { ...state, record: { generation, phase: 'sealed' } }
      const content = await sealSite(dataDir, context, context.signal)
      return { ...state, record: { generation, phase: 'sealed', content } }
    }
    default:
      return step satisfies never
  }
}
