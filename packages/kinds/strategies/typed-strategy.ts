import type { KubeObject, NameRule, Strategy, StrategyContext, StatusCause } from '@skerry/api'

/**
 * T after decoding and before validation: every value has its type, but any may be missing, even
 * those the schema requires.
 */
export type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? string extends keyof T
      ? { [Key in keyof T]: Loose<T[Key]> }
      : { [Key in keyof T]?: Loose<T[Key]> }
    : T

/** A decoded object of kind T; decoding has set the three fields that all kinds share. */
export type LooseObject<T> = Loose<Omit<T, keyof KubeObject>> & KubeObject

/** A strategy with the kind's own type in place of AnyObject; see Strategy for its hooks. */
export interface TypedStrategy<T> {
  load?: () => Promise<void>
  defaults?: (object: LooseObject<T>) => void
  setTimes?: (object: LooseObject<T>, nowMs: number) => void
  prepareForCreate?: (next: LooseObject<T>, context: StrategyContext) => void
  prepareForUpdate?: (next: LooseObject<T>, old: LooseObject<T>, context: StrategyContext) => void
  prepareForStatusUpdate?: (
    next: LooseObject<T>,
    old: LooseObject<T>,
    context?: StrategyContext,
  ) => void
  validate?: (object: LooseObject<T>) => StatusCause[]
  validateUpdate?: (next: LooseObject<T>, old: LooseObject<T>) => StatusCause[]
  validateForm?: (next: LooseObject<T>) => StatusCause[]
  validateStatusUpdate?: (next: LooseObject<T>, old: LooseObject<T>) => StatusCause[]
  warnings?: (next: LooseObject<T>, old?: LooseObject<T>) => string[]
  parts?: Readonly<Record<string, TypedPartUpdate<T>>>
  hasGeneration?: boolean
  countsSentEmpty?: boolean
  allowCreateOnUpdate?: boolean
  allowUnconditionalUpdate?: boolean
  gracefulDeletion?: (object: LooseObject<T>, askedSeconds: number | undefined) => number
  nameRule?: NameRule
  defaultGarbageCollection?: 'orphan' | 'background' | 'none'
}

export interface TypedPartUpdate<T> {
  prepare?: (next: LooseObject<T>, old: LooseObject<T>, context: StrategyContext) => void
  validate: (next: LooseObject<T>, old: LooseObject<T>) => StatusCause[]
}

/** Converts hooks written for one kind to an entry of the table. */
export function strategyOf<T>(hooks: TypedStrategy<T>): Strategy {
  // The registry decodes each object against its kind's schema before any hook sees it, and passes
  // a kind's objects only to that kind's strategy, so an AnyObject here is a LooseObject<T>.
  return Object.freeze(hooks) as unknown as Strategy
}
