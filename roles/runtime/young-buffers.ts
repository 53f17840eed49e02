/**
 * The bytes between two collections of the young generation. A buffer is small to the engine's young
 * generation, and large outside of it: long before that generation is full, 64 MiB of dead buffers make the
 * engine mark and sweep everything. Each byte of a tunnel leaves about three bytes of buffers behind: this is
 * well below.
 */
const bytesBetween = 8 * 1024 * 1024

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
