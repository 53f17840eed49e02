import {
  isJsonObject,
  type AnyObject,
  type JsonObject,
  type Kind,
  type ObjectMeta,
} from '@skerry/api'

/** Special deletion behaviour of a kind, in addition to finalizers and grace periods. */
export interface DeletionRule {
  /** Keeps a deleted object even if it has no finalizers. */
  readonly isHeld: (object: AnyObject) => boolean
  /** Called once, when the object is marked for deletion. Changes it in place. */
  readonly onMarked: (object: AnyObject) => void
}

/** Keyed `group/Kind`. */
const deletionRules: Readonly<Record<string, DeletionRule>> = Object.freeze({
  '/Namespace': {
    isHeld({ spec }) {
      const finalizers = isJsonObject(spec) ? spec['finalizers'] : undefined
      return Array.isArray(finalizers) && finalizers.length > 0
    },
    onMarked(namespace) {
      delete namespace.metadata.deletionGracePeriodSeconds
      const { status } = namespace
      namespace['status'] = { ...(isJsonObject(status) ? status : {}), phase: 'Terminating' }
    },
  },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    // The first delete always marks, because the definition's objects are deleted before it.
    isHeld: ({ metadata }) => metadata.deletionTimestamp === undefined,
    onMarked(definition) {
      const { metadata, status } = definition
      definition['status'] = withTerminating(isJsonObject(status) ? status : {}, metadata)
      // Upstream marks definitions in another way, without a grace period and without counting a
      // change of the spec.
      delete metadata.deletionGracePeriodSeconds
      if (metadata.generation !== undefined) metadata.generation -= 1
      const finalizers = metadata.finalizers ?? []
      const cleanup = 'customresourcecleanup.apiextensions.k8s.io'
      if (!finalizers.includes(cleanup)) metadata.finalizers = [...finalizers, cleanup]
    },
  },
})

function withTerminating(status: JsonObject, { deletionTimestamp = '' }: ObjectMeta): JsonObject {
  const before: unknown[] = Array.isArray(status['conditions']) ? status['conditions'] : []
  const terminating = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    lastTransitionTime: deletionTimestamp,
  }
  return { ...status, conditions: [...before, terminating] }
}

export function deletionRuleOf({
  group,
  kind,
}: Pick<Kind, 'group' | 'kind'>): DeletionRule | undefined {
  return deletionRules[`${group}/${kind}`]
}

export function isHeld(object: AnyObject, kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return deletionRuleOf(kind)?.isHeld(object) === true
}
