import { asError, type Logger } from '@skerry/base'
import type { ResourceInterpreter } from './contract/resource-interpreter.ts'
import { interpreterBounds } from './limits-table.ts'

const { toldMax } = interpreterBounds.unknownHealth

/** Turns a failed health into Unknown, as in Karmada, and reports the reason once. */
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
