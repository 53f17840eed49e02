import { StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, Objects } from '@skerry/apiserver'
import { parseLua, LuaError } from '@skerry/lua'
import { textAt } from '@skerry/fleet-kinds'

const customizations = Object.freeze({
  group: 'config.karmada.io',
  resource: 'resourceinterpretercustomizations',
})

/** The operation that the script of each member implements. */
const operationOf: Readonly<Record<string, string>> = Object.freeze({
  retention: 'Retain',
  replicaResource: 'InterpretReplica',
  componentResource: 'InterpretComponent',
  replicaRevision: 'ReviseReplica',
  statusReflection: 'InterpretStatus',
  statusAggregation: 'AggregateStatus',
  healthInterpretation: 'InterpretHealth',
  dependencyInterpretation: 'InterpretDependency',
})

/** Scripts of several of these add up. */
const mayBeSeveral = 'dependencyInterpretation'

/**
 * Refuses a second script for the same kind and operation, because it would be unclear which is in force.
 * Each script must be Lua.
 */
export function customizationAdmission(objects: Objects): AdmissionPlugin {
  return {
    name: 'ResourceInterpreterCustomization',
    handles: ({ operation, resource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === customizations.group &&
      resource.resource === customizations.resource,
    async validate({ object, name }) {
      if (object === undefined) return
      const shown = name || (object.metadata.name ?? '')
      const others = objects.list(customizations).filter(({ metadata }) => metadata.name !== shown)
      const why = conflictOf(object, others) ?? faultOf(object)
      if (why === undefined) return
      const { group, resource } = customizations
      const what = `${resource}.${group} ${JSON.stringify(shown)}`
      throw new StatusError('Forbidden', `${what} is forbidden: ${why}`)
    },
  }
}

function conflictOf(object: AnyObject, others: readonly AnyObject[]): string | undefined {
  for (const other of others) {
    const isSameKind = ['apiVersion', 'kind'].every(
      (field) => targetOf(other, field) === targetOf(object, field),
    )
    if (!isSameKind) continue
    const member = Object.keys(operationOf).find(
      (each) => each !== mayBeSeveral && scriptOf(object, each) && scriptOf(other, each),
    )
    if (member === undefined) continue
    return `conflicting with InterpreterOperation(${operationOf[member]}) of existing ResourceInterpreterCustomization(${other.metadata.name})`
  }
  return undefined
}

function faultOf(object: AnyObject): string | undefined {
  for (const [member, operation] of Object.entries(operationOf)) {
    try {
      parseLua(scriptOf(object, member))
    } catch (error) {
      if (!(error instanceof LuaError)) throw error
      return `InterpreterOperation(${operation}) Lua script error: ${error.message}`
    }
  }
  return undefined
}

function targetOf(object: AnyObject, field: string): string {
  return textAt(object, 'spec', 'target', field)
}

function scriptOf(object: AnyObject, member: string): string {
  return textAt(object, 'spec', 'customizations', member, 'luaScript')
}
