import type { Service } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import { refuse } from '../admission-matching/refusal.ts'

/**
 * Refuses new external addresses of Services, with which their author could capture the traffic of
 * others (CVE-2020-8554). Existing addresses stay. Off by default, as upstream.
 */
export function createDenyServiceExternalIps(): AdmissionPlugin {
  return {
    name: 'DenyServiceExternalIPs',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.services) &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    async validate(request) {
      const { object, oldObject } = request
      if (!object) return
      const before = oldObject ? (typed<Service>(oldObject).spec?.externalIPs ?? []) : []
      const addresses = typed<Service>(object).spec?.externalIPs ?? []
      if (addresses.every((address) => before.includes(address))) return
      throw refuse(request, 'Use of external IPs is denied by admission control')
    },
  }
}
