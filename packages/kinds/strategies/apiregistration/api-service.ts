import type { APIService } from '@skerry/api'
import { keepField, statusApart } from '../keep-fields.ts'
import { rfc3339 } from '../timestamps.ts'
import { strategyOf } from '../typed-strategy.ts'
import { validateApiService, validateApiServiceStatus } from './api-service-validation.ts'

export const apiServiceStrategy = strategyOf<APIService>({
  // Its own check requires version.group, which may start with a digit.
  nameRule: 'path-segment',
  validate: validateApiService,
  validateUpdate: validateApiService,
  validateStatusUpdate: validateApiServiceStatus,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(apiService) {
    const spec = (apiService.spec ??= {})
    apiService.status ??= {}
    if (spec.service) spec.service.port ??= 443
  },
  prepareForCreate(next, context) {
    next.status = {}
    if (next.spec?.service) return
    next.status.conditions = [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: rfc3339(context.nowMs),
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ]
  },
  prepareForUpdate: statusApart.prepareForUpdate,
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
    for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
      keepField(next.metadata, old.metadata, field)
    }
  },
})
