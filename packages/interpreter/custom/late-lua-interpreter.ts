import type { AnyObject } from '@skerry/api'
import type { ResourceInterpreter } from '../contract/resource-interpreter.ts'
import type { Suspension } from './customization-budget.ts'
import type { CustomScripts } from './customization.ts'
import type { LuaClock } from './lua-interpreter.ts'

/**
 * Wraps LuaInterpreter, and loads it for the first script: most fleets have none, and Lua is 60 kB of code in
 * each of their agents.
 */
export function lateLuaInterpreter(
  scripts: () => CustomScripts,
  clock: LuaClock,
  onSuspended?: (suspension: Suspension) => void,
): ResourceInterpreter {
  let loaded: Promise<ResourceInterpreter> | undefined
  const load = async (): Promise<ResourceInterpreter> => {
    const { LuaInterpreter } = await import('./lua-interpreter.ts')
    return new LuaInterpreter(scripts, clock, onSuspended)
  }
  const lua = (): Promise<ResourceInterpreter> => (loaded ??= load())
  return {
    knows: (object: AnyObject, operation) => scripts().of(object, operation).length > 0,
    replicas: async (...asked) => (await lua()).replicas(...asked),
    components: async (...asked) => (await lua()).components(...asked),
    reviseReplica: async (...asked) => (await lua()).reviseReplica(...asked),
    retain: async (...asked) => (await lua()).retain(...asked),
    prune: async (object) => object,
    reflectStatus: async (...asked) => (await lua()).reflectStatus(...asked),
    aggregateStatus: async (...asked) => (await lua()).aggregateStatus(...asked),
    health: async (...asked) => (await lua()).health(...asked),
    dependencies: async (...asked) => (await lua()).dependencies(...asked),
  }
}
