import {
  canonicalQuantity,
  isJsonObject,
  labelSelectorOf,
  type AnyObject,
  type JsonObject,
  type LabelSelectorFields,
  type NodeSelector,
  type Toleration,
} from '@skerry/api'
import type { BindingComponent, ReplicaRequirements } from '@skerry/karmada-kinds'
import type { DependentObject } from './dependent-object.ts'
import { interpreterBounds } from '../limits-table.ts'

/*
 * Parses the results of scripts and webhooks: each function throws a TypeError that describes the error, and
 * drops fields that Karmada's API does not have.
 */

const { replicasMax, listMax } = interpreterBounds.interpretedValues

/** Truncates fractions, as Karmada does. */
export function readReplicas(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('replicas', 'a number')
  const replicas = Math.trunc(value)
  if (replicas >= 0 && replicas <= replicasMax) return replicas
  throw wrong('replicas', `from 0 to ${replicasMax}`)
}

export function readHealth(value: unknown): 'Healthy' | 'Unhealthy' {
  if (typeof value !== 'boolean') throw wrong('health', 'true or false')
  return value ? 'Healthy' : 'Unhealthy'
}

export function readStatus(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw wrong('status', 'an object')
  return value
}

/** Returns the changed object, whose identity must stay the same. */
export function readObject(value: unknown, before: AnyObject): AnyObject {
  if (!isJsonObject(value)) throw wrong('result', 'an object')
  const { apiVersion, kind, metadata } = value
  const isSame =
    apiVersion === before.apiVersion &&
    kind === before.kind &&
    isJsonObject(metadata) &&
    metadata['name'] === before.metadata.name &&
    metadata['namespace'] === before.metadata.namespace
  if (!isSame) throw wrong('result', 'of the same apiVersion, kind, namespace and name')
  // The checks above ensure the fields of every object.
  return value as AnyObject
}

export function readRequirements(value: unknown): ReplicaRequirements | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw wrong('replicaRequirements', 'an object')
  const { nodeClaim, resourceRequest, namespace, priorityClassName } = value
  return {
    ...(isPresent(nodeClaim) ? { nodeClaim: readNodeClaim(nodeClaim) } : {}),
    ...(isPresent(resourceRequest) ? { resourceRequest: readQuantities(resourceRequest) } : {}),
    ...textField('namespace', namespace),
    ...textField('priorityClassName', priorityClassName),
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function textField(name: string, value: unknown): Record<string, string> {
  if (!isPresent(value) || value === '') return {}
  if (typeof value !== 'string') throw wrong(name, 'a text')
  return { [name]: value }
}

function readNodeClaim(value: unknown): NonNullable<ReplicaRequirements['nodeClaim']> {
  if (!isJsonObject(value)) throw wrong('nodeClaim', 'an object')
  const { hardNodeAffinity, nodeSelector, tolerations } = value
  return {
    // Their content is checked where a pod is placed, as for a pod's own.
    ...(isPresent(hardNodeAffinity)
      ? {
          hardNodeAffinity: expectObject(
            'hardNodeAffinity',
            hardNodeAffinity,
          ) as unknown as NodeSelector,
        }
      : {}),
    ...(isPresent(nodeSelector) ? { nodeSelector: readTexts('nodeSelector', nodeSelector) } : {}),
    ...(isPresent(tolerations)
      ? { tolerations: expectObjects('tolerations', tolerations) as unknown as Toleration[] }
      : {}),
  }
}

function readTexts(name: string, value: unknown): Record<string, string> {
  const texts = expectObject(name, value)
  for (const each of Object.values(texts)) {
    if (typeof each !== 'string') throw wrong(name, 'an object of texts')
  }
  // Each value was checked above.
  return texts as Record<string, string>
}

function readQuantities(value: unknown): Record<string, string> {
  const entries = Object.entries(expectObject('resourceRequest', value)).map(([name, amount]) => {
    const text = typeof amount === 'number' ? String(amount) : amount
    if (typeof text !== 'string') throw wrong(`resourceRequest.${name}`, 'a quantity')
    return [name, canonicalQuantity(text)] as const
  })
  return Object.fromEntries(entries)
}

export function readComponents(value: unknown): BindingComponent[] | undefined {
  if (!isPresent(value)) return undefined
  return expectObjects('components', value).map(({ name, replicas, replicaRequirements }) => {
    if (typeof name !== 'string') throw wrong('components[].name', 'a text')
    const requirements = readRequirements(replicaRequirements)
    return {
      name,
      replicas: readReplicas(replicas ?? 0),
      ...(requirements ? { replicaRequirements: requirements } : {}),
    }
  })
}

export function readDependencies(value: unknown): DependentObject[] {
  return inOneOrder(expectObjects('dependencies', value).map(readDependency))
}

/** Sorts the dependencies and removes duplicates. */
export function inOneOrder(dependencies: readonly DependentObject[]): DependentObject[] {
  const byText = new Map(dependencies.map((each) => [JSON.stringify(each), each]))
  const keyOf = ({ apiVersion, kind, namespace, name = '' }: DependentObject): string =>
    [apiVersion, kind, namespace, name].join('\0')
  return [...byText.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function readDependency(value: JsonObject): DependentObject {
  const { apiVersion, kind, namespace = '', name = '', labelSelector } = value
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    throw wrong('dependencies[].apiVersion', 'a text')
  }
  if (typeof kind !== 'string' || kind === '') throw wrong('dependencies[].kind', 'a text')
  if (typeof namespace !== 'string') throw wrong('dependencies[].namespace', 'a text')
  if (typeof name !== 'string') throw wrong('dependencies[].name', 'a text')
  if (name !== '') return { apiVersion, kind, namespace, name }
  if (!isJsonObject(labelSelector)) {
    throw wrong('dependencies[]', 'an object with a name or a labelSelector')
  }
  const selector = labelSelector as LabelSelectorFields
  // Throws if the selector is invalid.
  labelSelectorOf(selector)
  return { apiVersion, kind, namespace, labelSelector: selector }
}

function expectObject(name: string, value: unknown): JsonObject {
  if (!isJsonObject(value)) throw wrong(name, 'an object')
  return value
}

function expectObjects(name: string, value: unknown): JsonObject[] {
  if (!Array.isArray(value)) throw wrong(name, 'a list')
  if (value.length > listMax) throw wrong(name, `a list of at most ${listMax}`)
  return value.map((each) => expectObject(`${name}[]`, each))
}

function wrong(what: string, expected: string): TypeError {
  return new TypeError(`its ${what} is not ${expected}`)
}
