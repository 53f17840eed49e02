import {
  compareQuantities,
  fieldForbidden,
  fieldInvalid,
  formatQuantity,
  parseQuantity,
  type PodSpec,
} from '@skerry/api'
import { memberAsSent } from '@skerry/bodies'
import type { Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { containerTotal, isHugePage } from './pod-level-resources.ts'
import { checkPodRequirements } from './resources.ts'

/** Resources of the pod as a whole must cover the requests of its containers. */
export function checkPodResources(
  spec: Loose<PodSpec>,
  claimNames: ReadonlySet<string>,
  path: string,
  found: Found,
): void {
  const { resources } = spec
  if (!resources) return
  if (spec.os?.name === 'windows') {
    found.push(fieldForbidden(path, 'may not be set for a windows pod'))
    return
  }
  if (memberAsSent(resources, 'claims') !== null) {
    const detail = 'claims may not be set for Resources at pod-level'
    found.push(fieldForbidden(`${path}.claims`, detail))
  }
  checkPodRequirements(resources, claimNames, path, found)
  for (const [name, total] of containerTotal(spec, 'requests')) {
    const request = resources.requests?.[name]
    if (request === undefined || compareQuantities(total, parseQuantity(request)) <= 0) continue
    const sum = formatQuantity(total)
    const detail = `must be greater than or equal to aggregate container requests of ${sum}`
    found.push(fieldInvalid(`${path}.requests[${name}]`, request, detail))
  }
  for (const [name, total] of containerTotal(spec, 'limits')) {
    const limit = resources.limits?.[name]
    if (!isHugePage(name) || limit === undefined) continue
    if (compareQuantities(total, parseQuantity(limit)) <= 0) continue
    const sum = formatQuantity(total)
    const detail = `must be greater than or equal to aggregate container limits of ${sum}`
    found.push(fieldInvalid(`${path}.limits[${name}]`, limit, detail))
  }
  checkContainerLimits(spec, path, found)
}

function checkContainerLimits(spec: Loose<PodSpec>, path: string, found: Found): void {
  for (const [at, container] of (spec.containers ?? []).entries()) {
    for (const [name, own] of Object.entries(container.resources?.limits ?? {})) {
      const limit = spec.resources?.limits?.[name]
      if (limit === undefined) continue
      if (compareQuantities(parseQuantity(own), parseQuantity(limit)) <= 0) continue
      const field = `${path}.containers[${at}][${name}].limits`
      found.push(fieldInvalid(field, own, `must be less than or equal to pod limits of ${limit}`))
    }
  }
}
