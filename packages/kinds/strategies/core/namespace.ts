import { fieldInvalid, type Namespace, type StatusCause } from '@skerry/api'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import type { Found } from '../checks.ts'
import { checkFinalizer } from './finalizer-names.ts'

export const namespaceStrategy = strategyOf<Namespace>({
  validate: validateNamespace,
  validateStatusUpdate: validatePhase,
  parts: { finalize: { validate: validateFinalize } },
  hasGeneration: false,
  nameRule: 'dns-label',
  defaults: applyNamespaceDefaults,
  prepareForCreate(next) {
    next.status = { phase: 'Active' }
    const spec = (next.spec ??= {})
    spec.finalizers ??= []
    if (!spec.finalizers.includes(finalizer)) spec.finalizers.push(finalizer)
  },
  prepareForUpdate(next, old) {
    // Only the finalize subresource removes finalizers.
    keepField((next.spec ??= {}), old.spec ?? {}, 'finalizers')
    keepField(next, old, 'status')
  },
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})

const finalizer = 'kubernetes'

function applyNamespaceDefaults(namespace: LooseObject<Namespace>): void {
  const { metadata } = namespace
  if (metadata.name) {
    metadata.labels ??= {}
    metadata.labels['kubernetes.io/metadata.name'] = metadata.name
  }
  namespace.spec ??= {}
  namespace.status ??= {}
  namespace.status.phase ||= 'Active'
}

function validateNamespace(namespace: LooseObject<Namespace>): StatusCause[] {
  const found: Found = []
  for (const name of namespace.spec?.finalizers ?? []) {
    checkFinalizer(name, 'spec.finalizers', found)
  }
  return found
}

function validateFinalize(namespace: LooseObject<Namespace>): StatusCause[] {
  const found: Found = []
  for (const [at, name] of (namespace.spec?.finalizers ?? []).entries()) {
    checkFinalizer(name, `spec.finalizers[${at}]`, found)
  }
  return found
}

function validatePhase(next: LooseObject<Namespace>): StatusCause[] {
  const isDeleted = next.metadata.deletionTimestamp !== undefined
  const wanted = isDeleted ? 'Terminating' : 'Active'
  const { phase = '' } = next.status ?? {}
  if (phase === wanted) return []
  const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? 'not empty' : 'empty'}`
  return [fieldInvalid('status.Phase', phase, detail)]
}
