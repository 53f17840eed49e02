import { asError, type Logger } from '@skerry/base'
import type { ResourceInterpreter } from './contract/resource-interpreter.ts'

/** Failures that were told; after so many other ones, each is told again. */
const toldMax = 100

/** A health that cannot be had is Unknown, as in Karmada, and the reason is told once. */
export function withUnknownHealth(
  interpreter: ResourceInterpreter,
  log: Logger,
): Pick<ResourceInterpreter, 'health'> {
  const told = new Set<string>()
  return {
    async health(object, signal) {
      try {
        return await interpreter.health(object, signal)
      } catch (error) {
        signal.throwIfAborted()
        const cause = asError(error)
        if (told.size >= toldMax) told.clear()
        if (!told.has(cause.message)) log.error('Health is unknown', { error: cause })
        told.add(cause.message)
        return 'Unknown'
      }
    },
  }
}
