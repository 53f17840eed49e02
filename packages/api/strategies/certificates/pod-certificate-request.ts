import type { PodCertificateRequest } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const podCertificateRequestStrategy = strategyOf<PodCertificateRequest>({
  ...statusApart,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(request) {
    request.status ??= {}
  },
})
