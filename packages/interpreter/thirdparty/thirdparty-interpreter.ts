import { isJsonObject, type AnyObject } from '@skerry/api'
import { fieldAt, kindKey, withField } from '@skerry/fleet-kinds'
import { inOneOrder } from '../contract/interpreted-values.ts'
import type { InterpreterOperation, ResourceInterpreter } from '../contract/resource-interpreter.ts'
import { aggregateKnownStatus } from './aggregate-known-status.ts'
import { argoKinds } from './argo-kinds.ts'
import { fluxKinds } from './flux-kinds.ts'
import { jobKinds } from './job-kinds.ts'
import type { KnownKind, KnownKinds } from './known-kind.ts'
import { kruiseKinds } from './kruise-kinds.ts'
import { kyvernoKinds } from './kyverno-kinds.ts'
import { reflectKnownStatus } from './reflect-known-status.ts'

const kinds: KnownKinds = Object.freeze({
  ...argoKinds,
  ...fluxKinds,
  ...jobKinds,
  ...kruiseKinds,
  ...kyvernoKinds,
})

/** Interprets third-party kinds that many clusters have. */
export const thirdpartyInterpreter: ResourceInterpreter = Object.freeze({
  knows: (object, operation) => {
    const kind = kinds[kindKey(object)]
    return kind !== undefined && rules[operation](kind)
  },
  replicas: async (object) => kinds[kindKey(object)]?.replicas?.of(object),
  components: async () => undefined,
  reviseReplica: async (object, replicas) => {
    const path = kinds[kindKey(object)]?.replicas?.path
    return path === undefined ? object : withField(object, path, replicas)
  },
  retain: async (desired, observed) =>
    (kinds[kindKey(desired)]?.retained ?? []).reduce((left, path) => {
      const value = fieldAt(observed, ...path)
      return value === undefined || value === null ? left : withField(left, path, value)
    }, desired),
  prune: async (object) => object,
  reflectStatus: async (object) => {
    const fields = kinds[kindKey(object)]?.status
    if (fields !== undefined) return reflectKnownStatus(object, fields)
    const status = fieldAt(object, 'status')
    return isJsonObject(status) ? status : undefined
  },
  aggregateStatus: async (template, items) => {
    const fields = kinds[kindKey(template)]?.status
    return fields === undefined ? template : aggregateKnownStatus(template, items, fields)
  },
  health: async (object) =>
    (kinds[kindKey(object)]?.health?.(object) ?? true) ? 'Healthy' : 'Unhealthy',
  dependencies: async (object: AnyObject) =>
    inOneOrder(kinds[kindKey(object)]?.dependencies?.(object) ?? []),
} satisfies ResourceInterpreter)

const rules: Readonly<Record<InterpreterOperation, (kind: KnownKind) => boolean>> = Object.freeze({
  InterpretReplica: ({ replicas }) => replicas !== undefined,
  InterpretComponent: () => false,
  ReviseReplica: ({ replicas }) => replicas !== undefined,
  Retain: ({ retained }) => retained !== undefined,
  Prune: () => false,
  InterpretStatus: ({ status }) => status !== undefined,
  AggregateStatus: ({ status }) => status !== undefined,
  InterpretHealth: ({ health }) => health !== undefined,
  InterpretDependency: ({ dependencies }) => dependencies !== undefined,
})
