import { isJsonObject, type AnyObject } from '@skerry/api'
import type { Cluster } from '@skerry/fleet-kinds'
import {
  changedKeptField,
  matchesAffinity,
  tenantOptions,
  type OverridePolicy,
  type OverrideRule,
  type Overriders,
  type TenantRules,
} from '@skerry/karmada-kinds'
import { commandPatches } from './override-command.ts'
import { fieldPatch } from './override-field.ts'
import { imagePatches } from './override-image.ts'
import { withMapOverridden } from './override-map.ts'
import { patchDocument, type OverridePatch } from './patch-document.ts'

/** A rule of a policy that was carried out. */
export interface AppliedOverride {
  readonly policy: string
  /** The namespace of the policy. If omitted, it is a ClusterOverridePolicy. */
  readonly namespace?: string
  /** The rule's index, from 0; a policy in the old form has one rule. */
  readonly rule: number
  readonly overriders: Overriders
}

export interface OverrideInput {
  readonly cluster: Cluster
  /** Policies in the order of orderOverridePolicies for applyOverrides; all policies for overrideObject. */
  readonly policies: readonly OverridePolicy[]
  /** If omitted, a policy of a namespace may not change an object's identity, nor what it grants or limits. */
  readonly rules?: TenantRules
}

/** An override that cannot be carried out: nothing of the object may go to that cluster. */
export class OverrideError extends Error {
  override name = 'OverrideError'
  readonly policy: string

  constructor(policy: OverridePolicy, cause: Error) {
    super(cause.message, { cause })
    this.policy = policy.metadata.name ?? ''
  }
}

/** The object as one cluster is to have it. Pure. Throws OverrideError in Karmada's words. */
export function applyOverrides(
  object: AnyObject,
  { cluster, policies, rules }: OverrideInput,
): { object: AnyObject; applied: AppliedOverride[] } {
  let changed = object
  const applied: AppliedOverride[] = []
  for (const policy of policies) {
    for (const [rule, { targetCluster, overriders }] of rulesOf(policy).entries()) {
      if (!matchesAffinity(cluster, targetCluster)) continue
      const next = overridden(changed, policy, overriders)
      if (rules?.anyOverride !== true) expectKept(policy, changed, next)
      changed = next
      const { name = '', namespace } = policy.metadata
      applied.push({ policy: name, ...(namespace ? { namespace } : {}), rule, overriders })
    }
  }
  return { object: changed, applied }
}

function rulesOf({ spec }: OverridePolicy): readonly OverrideRule[] {
  const { overrideRules = [], targetCluster, overriders = {} } = spec
  if (overrideRules.length > 0) return overrideRules
  return [{ ...(targetCluster ? { targetCluster } : {}), overriders }]
}

function overridden(object: AnyObject, policy: OverridePolicy, overriders: Overriders): AnyObject {
  try {
    return withOverriders(object, overriders)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new OverrideError(policy, error)
  }
}

/** The result counts, not the path: there are many ways to spell one. */
function expectKept(policy: OverridePolicy, before: AnyObject, after: AnyObject): void {
  const { namespace, name = '' } = policy.metadata
  if (!namespace) return
  const field = changedKeptField(before, after)
  if (field === undefined) return
  const object = `${before.kind} "${before.metadata.namespace ?? ''}/${before.metadata.name ?? ''}"`
  const why = `Cannot apply OverridePolicy "${namespace}/${name}" to ${object}: it changes ${field}, which a policy of a namespace must keep; use a ClusterOverridePolicy, or start the hub with ${tenantOptions.anyOverride}`
  throw new OverrideError(policy, new Error(why))
}

/** Applies the overriders in Karmada's order; each sees the result of those before it. */
function withOverriders(object: AnyObject, overriders: Overriders): AnyObject {
  let changed = object
  for (const each of overriders.imageOverrider ?? []) {
    changed = patched(changed, imagePatches(changed, each))
  }
  for (const each of overriders.commandOverrider ?? []) {
    changed = patched(changed, commandPatches(changed, 'command', each))
  }
  for (const each of overriders.argsOverrider ?? []) {
    changed = patched(changed, commandPatches(changed, 'args', each))
  }
  for (const each of overriders.labelsOverrider ?? []) {
    changed = withMapOverridden(changed, 'labels', each)
  }
  for (const each of overriders.annotationsOverrider ?? []) {
    changed = withMapOverridden(changed, 'annotations', each)
  }
  for (const each of overriders.fieldOverrider ?? []) {
    changed = patched(changed, [fieldPatch(changed, each)])
  }
  return patched(changed, overriders.plaintext ?? [])
}

function patched(object: AnyObject, patches: readonly OverridePatch[]): AnyObject {
  if (patches.length === 0) return object
  const document = patchDocument(object, patches)
  if (!isObject(document)) {
    throw new Error(`Object 'Kind' is missing in '${JSON.stringify(document)}'`)
  }
  return document
}

/** Checks the result, because a patch may remove anything, even the fields that every object needs. */
function isObject(document: unknown): document is AnyObject {
  if (!isJsonObject(document)) return false
  const { apiVersion, kind, metadata } = document
  return typeof apiVersion === 'string' && isName(kind) && isJsonObject(metadata)
}

function isName(kind: unknown): boolean {
  return typeof kind === 'string' && kind !== ''
}
