import {
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type IngressClass,
  type IngressClassParametersReference,
  type StatusCause,
} from '@skerry/api'
import { checkLabelField, checkUnchanged, type Found } from '../checks.ts'
import { checkDomainPrefixedPath } from '../domain-prefixed-path.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { checkLocalReference } from './ingress-validation.ts'
import { kindsBounds } from '../../limits-table.ts'

export const ingressClassStrategy = strategyOf<IngressClass>({
  hasGeneration: true,
  defaults(ingressClass) {
    const spec = (ingressClass.spec ??= {})
    if (spec.parameters) spec.parameters.scope ??= 'Cluster'
  },
  validate: validateIngressClass,
  validateUpdate(next, old) {
    const found: Found = []
    const { controller = '' } = next.spec ?? {}
    checkUnchanged(controller, old.spec?.controller ?? '', 'spec.controller', found)
    return [...found, ...validateIngressClass(next)]
  },
})

const { controllerBytesMax } = kindsBounds.ingressClass

function validateIngressClass(ingressClass: LooseObject<IngressClass>): StatusCause[] {
  const found: Found = []
  const { controller = '', parameters } = ingressClass.spec ?? {}
  if (controller.length > controllerBytesMax) {
    found.push(fieldTooLong('spec.controller', controllerBytesMax))
  }
  checkDomainPrefixedPath(controller, 'spec.controller', found)
  if (parameters) checkParameters(parameters, 'spec.parameters', found)
  return found
}

function checkParameters(
  parameters: Loose<IngressClassParametersReference>,
  path: string,
  found: Found,
): void {
  checkLocalReference(parameters, path, found)
  const { namespace } = parameters
  const scope = parameters.scope ?? ''
  const field = `${path}.namespace`
  if (scope === 'Namespace') {
    if (namespace === undefined) {
      found.push(fieldRequired(field, "`parameters.scope` is set to 'Namespace'"))
    } else {
      checkLabelField(namespace, field, found)
    }
  } else if (scope !== 'Cluster') {
    found.push(fieldNotSupported(`${path}.scope`, scope, ['Cluster', 'Namespace']))
  } else if (namespace !== undefined) {
    found.push(fieldForbidden(field, "`parameters.scope` is set to 'Cluster'"))
  }
}
