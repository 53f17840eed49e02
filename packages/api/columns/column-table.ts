import type { Column } from '../kind.ts'

/** Printer columns of the built-in kinds, keyed `group/Kind`; kinds not here show Name and Age. */
export const columns: Readonly<Record<string, readonly Column[]>> = Object.freeze({})

export const nameAndAge: readonly Column[] = []
