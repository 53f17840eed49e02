import type * as Engine from './expression-engine.ts'

let engine: typeof Engine | undefined

/**
 * Loads the code that checks and evaluates expressions and patterns: 9 MB in memory, which a
 * cluster without definitions and policies never needs. A kind whose hooks call expressions() names
 * this function as its `load`.
 */
export async function loadExpressions(): Promise<void> {
  engine ??= await import('./expression-engine.ts')
}

/** Throws TypeError before loadExpressions() has ended: hooks cannot wait, their callers do. */
export function expressions(): typeof Engine {
  if (engine) return engine
  throw new TypeError('Cannot check expressions: loadExpressions() was not awaited')
}
