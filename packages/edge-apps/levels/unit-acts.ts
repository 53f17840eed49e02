import type { ParentRecord, UnitRecord } from './handover.ts'
import type { UnitFault } from './unit-faults.ts'

/** The unit's own control plane while it is open. */
export interface UnitServing {
  /** The version of Kubernetes that it serves, e.g. `v1.36.3+skerry-1.0.0`. */
  readonly version: string
  /** Its URL. */
  readonly server: string
}

/** A node that runs, or shall run, a control plane of a unit. */
export interface UnitMaster {
  readonly node: string
  /** Omitted if it does not serve, or was not heard lately. */
  readonly serves?: UnitServing | undefined
  /** The reason why it cannot do its next step, as it says itself. */
  readonly trouble?: string | undefined
}

export interface TakeResult {
  /** False if the content has not arrived, or is refused. */
  readonly isTaken: boolean
  /** The objects that cannot come back, with a remedy; nothing has been touched. */
  readonly refusal?: string
}

/**
 * The acts of a parent on its own store by which a unit is handed over. They need more than the API, so that only a site
 * has them. Each may be repeated after it was cut off.
 */
export interface UnitActs {
  /** Returns the parent's record of a unit; one that was never handed over is in the phase `own`. */
  recordOf(unit: string): ParentRecord
  /** Returns the last statement of the unit's own control plane since this process started. */
  heardOf(unit: string): UnitRecord | undefined
  /** Returns the nodes that shall run the unit's own control plane. */
  mastersOf(unit: string): readonly UnitMaster[]
  /** Returns what keeps this site from handing these nodes over, with remedies. */
  faultsOf(nodes: readonly string[], signal: AbortSignal): Promise<readonly UnitFault[]>
  /** Replaces the record. With the phase `fenced`, nobody writes the objects of these nodes from then on. */
  note(
    unit: string,
    noted: {
      readonly record: ParentRecord
      readonly nodes: readonly string[]
      /** The first of them begins. If omitted, the first of the nodes by name runs it alone. */
      readonly masters?: readonly string[]
    },
    signal: AbortSignal,
  ): Promise<void>
  /**
   * Chooses as many nodes of a unit that is away to run its control plane, and another one to speak for it if the one that did
   * is silent. Resolves with what is in the way.
   */
  staff(unit: string, servers: number): Promise<UnitFault | undefined>
  /** Returns whether the content that the record names is here. Another master may have packed it, and left. */
  hasContent(unit: string): Promise<boolean>
  /** Packs the fenced objects, and puts the digest into the record. */
  pack(unit: string, signal: AbortSignal): Promise<void>
  /** Replaces the fenced objects by the sealed content, and only then the record. */
  take(
    unit: string,
    taken: { readonly content: string; readonly record: ParentRecord },
    signal: AbortSignal,
  ): Promise<TakeResult>
}
