/** The records by which a unit goes from the control plane of its parent to one of its own, and back. */

/** The side that may change the objects of a unit. */
export type Side = 'parent' | 'unit'

/**
 * The parent's record of a unit. The generation grows with each change of direction, so that a statement that comes late is
 * known as such.
 *
 * - `own`: the parent acts on the unit.
 * - `fenced`: nobody acts. The content has been packed if it is named, and the parent may still take the unit back.
 * - `released`: the unit may act on the named content. The parent acts again only on a content that the unit has sealed.
 * - `recalled`: the unit shall seal its content.
 */
export interface ParentRecord {
  readonly generation: number
  readonly phase: 'own' | 'fenced' | 'released' | 'recalled'
  /** The digest of a content, i.e. of all objects of the unit at one moment. */
  readonly content?: string
}

/**
 * The record of the unit's own control plane. It acts in the phase `open` only, and answers nodes in `open` and `sealed`
 * only, because a node ends the pods that its control plane does not have.
 */
export interface UnitRecord {
  readonly generation: number
  readonly phase: 'empty' | 'filled' | 'open' | 'sealed'
  /** The content that was filled in or sealed. An open one has gone on from it. */
  readonly content?: string
}

/** The record of a node: the control plane that it obeys. */
export interface NodeRecord {
  readonly generation: number
  readonly follows: Side
}

export const firstRecords = Object.freeze({
  parent: Object.freeze({ generation: 0, phase: 'own' }) as ParentRecord,
  unit: Object.freeze({ generation: 0, phase: 'empty' }) as UnitRecord,
  node: Object.freeze({ generation: 0, follows: 'parent' }) as NodeRecord,
})

/** The next act of the parent. It is done as often as needed; only then the record is replaced, if nobody has meanwhile. */
export type ParentStep =
  | { readonly act: 'none'; readonly waitsFor?: string }
  | { readonly act: 'note'; readonly record: ParentRecord }
  /** Packs all objects of the unit, whose digest goes into the record. */
  | { readonly act: 'pack' }
  /** Replaces the parent's objects of the unit by the content that the unit has sealed. */
  | { readonly act: 'take'; readonly content: string; readonly record: ParentRecord }

type UnitStep =
  | { readonly act: 'none' }
  | { readonly act: 'note'; readonly record: UnitRecord }
  /** Fetches the parent's content into an empty store, and puts an older store aside. */
  | { readonly act: 'fill'; readonly content: string; readonly record: UnitRecord }
  /** Refuses all further writes, and names what is there then. */
  | { readonly act: 'seal'; readonly generation: number }

type NodeStep =
  | { readonly act: 'none' }
  /** The control plane stays the same. */
  | { readonly act: 'note'; readonly record: NodeRecord }
  /** Restarts the node's agent with the identity that it has at the other side; containers go on. */
  | { readonly act: 'follow'; readonly record: NodeRecord }

/** The statements of others are the last that were heard, however old. */
interface ParentView {
  readonly wanted: Side
  readonly parent: ParentRecord
  readonly unit?: UnitRecord | undefined
  /** True if the parent has lost the content that it has packed. */
  readonly isGone?: boolean | undefined
  /** The generation in which a person says that the unit's server is destroyed, and nobody can seal what it had. */
  readonly lost?: number | undefined
}

interface UnitView {
  readonly unit: UnitRecord
  readonly parent?: ParentRecord | undefined
}

interface NodeView {
  readonly node: NodeRecord
  readonly parent?: ParentRecord | undefined
  readonly unit?: UnitRecord | undefined
}

/**
 * Plans the next step of each party. At most one side acts whatever the order in which statements arrive, are lost or
 * repeated: the parent gives up its right before the unit gets it, and the unit before the parent has it again.
 */
export const planHandover = Object.freeze({
  parent: (view: ParentView): ParentStep => parentSteps[view.parent.phase](view),
  unit: planUnit,
  node: planNode,
})

const parentSteps: Readonly<Record<ParentRecord['phase'], (view: ParentView) => ParentStep>> = {
  own({ wanted, parent }) {
    return wanted === 'parent' ? { act: 'none' } : note(parent.generation + 1, 'fenced')
  },
  fenced({ wanted, parent, unit, isGone }) {
    const { generation, content } = parent
    // The unit opens only what was released in this generation, and that never happens now.
    if (wanted === 'parent') return note(generation + 1, 'own')
    if (content === undefined) return { act: 'pack' }
    const isFilled =
      unit?.phase === 'filled' && unit.generation === generation && unit.content === content
    if (isFilled) return note(generation, 'released', content)
    // A unit that is filled with another content takes one of a later generation alone.
    if (isGone === true) return note(generation + 1, 'fenced')
    return { act: 'none', waitsFor: 'its own control plane has the content' }
  },
  released({ wanted, parent, unit }) {
    if (wanted === 'parent') return note(parent.generation + 1, 'recalled')
    const isOpen = unit?.phase === 'open' && unit.generation === parent.generation
    return isOpen ? { act: 'none' } : { act: 'none', waitsFor: 'its own control plane acts' }
  },
  recalled({ wanted, parent, unit, lost }) {
    const { generation } = parent
    if (wanted === 'parent' && lost === generation) return note(generation + 1, 'own')
    // An open unit may have gone on from what it was given, so that only it can say what there is to take.
    if (unit?.phase !== 'sealed' || unit.generation !== generation || unit.content === undefined) {
      return { act: 'none', waitsFor: 'its own control plane has stopped' }
    }
    const { content } = unit
    if (wanted === 'unit') return note(generation + 1, 'released', content)
    return { act: 'take', content, record: { generation, phase: 'own' } }
  },
}

function note(generation: number, phase: ParentRecord['phase'], content?: string): ParentStep {
  const record = { generation, phase, ...(content === undefined ? {} : { content }) }
  return { act: 'note', record }
}

function planUnit({ unit, parent }: UnitView): UnitStep {
  if (parent === undefined || parent.generation < unit.generation) return { act: 'none' }
  const { generation, phase, content } = parent
  const isNews = generation > unit.generation
  if (phase === 'released') {
    const isMine = unit.phase === 'filled' ? !isNews : unit.phase === 'sealed' && isNews
    if (!isMine || unit.content !== content) return { act: 'none' }
    return { act: 'note', record: { ...unit, generation, phase: 'open' } }
  }
  if (!isNews) return { act: 'none' }
  if (phase === 'own') {
    // The parent was told that this unit is lost, and acts without it.
    return unit.phase === 'open' ? { act: 'seal', generation } : { act: 'none' }
  }
  if (phase === 'recalled') {
    if (unit.phase === 'empty') return { act: 'none' }
    if (unit.phase === 'open') return { act: 'seal', generation }
    return { act: 'note', record: { ...unit, generation, phase: 'sealed' } }
  }
  // A fence follows on the parent's own time: it has taken what was sealed here, or has never released it.
  if (unit.phase === 'open' || content === undefined) return { act: 'none' }
  return { act: 'fill', content, record: { generation, phase: 'filled', content } }
}

function planNode({ node, parent, unit }: NodeView): NodeStep {
  const offers: NodeRecord[] = []
  if (unit?.phase === 'open') offers.push({ generation: unit.generation, follows: 'unit' })
  if (parent?.phase === 'own') offers.push({ generation: parent.generation, follows: 'parent' })
  const [record] = offers
    .filter(({ generation }) => generation > node.generation)
    .toSorted((a, b) => b.generation - a.generation)
  if (!record) return { act: 'none' }
  return { act: record.follows === node.follows ? 'note' : 'follow', record }
}
