import type { Namespace } from '../../generated/types.ts'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const namespaceStrategy = strategyOf<Namespace>({
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
    // Only the finalize subresource takes finalizers off.
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
