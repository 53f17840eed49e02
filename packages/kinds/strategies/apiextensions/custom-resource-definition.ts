import type { CustomResourceDefinition } from '@skerry/api'
import { loadExpressions } from '../../expressions/expressions.ts'
import { keepField } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import {
  validateDefinition,
  validateDefinitionUpdate,
} from './custom-resource-definition-validation.ts'
import { warningsOfFormats } from './format-warnings.ts'

export const customResourceDefinitionStrategy = strategyOf<CustomResourceDefinition>({
  load: loadExpressions,
  warnings: warningsOfFormats,
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults: applyDefinitionDefaults,
  prepareForCreate(next) {
    // Upstream's type cannot omit the list; clients see null until there is one.
    Object.assign(next, { status: { conditions: null } })
    recordStoredVersion(next)
  },
  prepareForUpdate(next, old) {
    keepField(next, old, 'status')
    if (next.status) next.status = { ...next.status }
    recordStoredVersion(next)
  },
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
  },
})

function applyDefinitionDefaults(definition: LooseObject<CustomResourceDefinition>): void {
  const spec = (definition.spec ??= {})
  const names = (spec.names ??= {})
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service) service.port ??= 443
  if ((definition.status?.storedVersions ?? []).length === 0) recordStoredVersion(definition)
}

/** A version in which objects were once stored must not be dropped later, so each is recorded. */
function recordStoredVersion(definition: LooseObject<CustomResourceDefinition>): void {
  const name = definition.spec?.versions?.find(({ storage }) => storage === true)?.name
  const status = (definition.status ??= {})
  status.acceptedNames ??= { plural: '', kind: '' }
  const stored = status.storedVersions ?? []
  status.storedVersions = name && !stored.includes(name) ? [...stored, name] : stored
}
