import type { ParentRecord, UnitRecord } from './handover.ts'

/**
 * The acts of a parent on its own store by which a unit is handed over. They need more than the API, so that only a site
 * has them. Each may be repeated after it was cut off.
 */
export interface UnitActs {
  /** Returns the parent's record of a unit; one that was never handed over is in the phase `own`. */
  recordOf(unit: string): ParentRecord
  /** Returns the last statement of the unit's own control plane since this process started. */
  heardOf(unit: string): UnitRecord | undefined
  /** Returns what keeps this site from handing these nodes over, with remedies. */
  faultsOf(nodes: readonly string[]): string[]
  /** Replaces the record. With the phase `fenced`, nobody writes the objects of these nodes from then on. */
  note(
    unit: string,
    noted: { readonly record: ParentRecord; readonly nodes: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>
  /** Packs the fenced objects, and puts the digest into the record. */
  pack(unit: string, signal: AbortSignal): Promise<void>
  /**
   * Replaces the fenced objects by the sealed content, and only then the record. Resolves to false if that content has not
   * arrived.
   */
  take(
    unit: string,
    taken: { readonly content: string; readonly record: ParentRecord },
    signal: AbortSignal,
  ): Promise<boolean>
}
