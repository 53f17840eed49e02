import { runtimeBounds } from './limits-table.ts'

const { bytesBetween } = runtimeBounds.youngBuffers

/**
 * Returns a function that receives the number of bytes passing in short-lived buffers. Undefined if the
 * engine was started without --expose-gc: see engine-flags.ts.
 */
export function youngBuffers(
  collect: (() => void) | undefined = collectYoung(),
): ((bytes: number) => void) | undefined {
  if (collect === undefined) return undefined
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < bytesBetween) return
    passed = 0
    collect()
  }
}

function collectYoung(): (() => void) | undefined {
  const { gc } = globalThis
  return gc && (() => gc({ type: 'minor', execution: 'sync' }))
}
