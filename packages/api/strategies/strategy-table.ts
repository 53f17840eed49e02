import type { Strategy } from '../kind.ts'

/** The hooks of the built-in kinds, keyed `group/Kind`; core kinds as `/Pod`. */
export const strategies: Readonly<Record<string, Strategy>> = Object.freeze({})
