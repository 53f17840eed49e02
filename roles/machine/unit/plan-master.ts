import type { UnitOrder } from '../../site/units/unit-order.ts'
import type { UnitState } from './unit-state.ts'

/** The next act of a machine whose unit has several servers. */
export type MasterStep =
  | { readonly act: 'none' }
  /** Joins the others, or joins again with a newer token. */
  | { readonly act: 'join'; readonly generation: number }
  /** Leaves the others before it had a vote. */
  | { readonly act: 'quit' }
  /** Stops, and puts everything aside: the others are without it already, or nobody acts any more. */
  | { readonly act: 'drop' }
  /** Speaks for the unit from now on, because the server that did is silent. */
  | { readonly act: 'promote'; readonly generation: number }
  /** Goes on as one of several: another one speaks for the unit. */
  | { readonly act: 'demote'; readonly generation: number }
  /** Stops: the unit was given up as lost, or is elsewhere. */
  | { readonly act: 'end'; readonly generation: number }

interface MasterView {
  readonly state: Pick<UnitState, 'record' | 'joined'>
  readonly serves: boolean
  /** True once it has had a vote. */
  readonly isVoter: boolean
  /** The token with which it joined last, if it has not served since. */
  readonly token: string | undefined
  readonly order: Pick<UnitOrder, 'parent' | 'isServer' | 'master' | 'masterJoin'>
}

export function planMaster(view: MasterView): MasterStep {
  const { state, order } = view
  const { record, joined } = state
  if (record.phase === 'open' && order.isServer !== true) return stepDown(record.generation, order)
  if (joined === undefined) {
    const { generation } = order.parent
    const isAsked = order.master === 'runs' && order.masterJoin !== undefined
    return isAsked && record.phase !== 'open' ? { act: 'join', generation } : { act: 'none' }
  }
  const isSame = isOfGeneration(joined.generation, order)
  if (order.isServer === true) {
    return isSame ? { act: 'promote', generation: joined.generation } : { act: 'drop' }
  }
  if (order.master === undefined) return { act: 'drop' }
  if (order.master === 'ends') return view.isVoter || !isSame ? { act: 'none' } : { act: 'quit' }
  return goOn(view, isSame)
}

function goOn({ serves, token, order }: MasterView, isSame: boolean): MasterStep {
  // It was taken out when the unit was sealed, and a content was released again since.
  if (!isSame) return { act: 'drop' }
  const { token: offered } = order.masterJoin ?? {}
  if (serves || offered === undefined || offered === token) return { act: 'none' }
  return { act: 'join', generation: order.parent.generation }
}

function stepDown(generation: number, order: MasterView['order']): MasterStep {
  if (isOfGeneration(generation, order)) {
    return order.master === undefined ? { act: 'none' } : { act: 'demote', generation }
  }
  const { generation: now } = order.parent
  return now > generation ? { act: 'end', generation: now } : { act: 'none' }
}

/** Returns whether a unit that acts in this generation is the one that is released, or called back from there. */
function isOfGeneration(generation: number, { parent }: MasterView['order']): boolean {
  if (parent.phase === 'released') return parent.generation === generation
  return parent.phase === 'recalled' && parent.generation === generation + 1
}
