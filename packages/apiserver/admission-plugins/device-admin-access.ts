import {
  fieldForbidden,
  type AnyObject,
  type Namespace,
  type ResourceClaim,
  type ResourceClaimTemplate,
} from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

const group = 'resource.k8s.io'
const namespaceLabel = 'resource.kubernetes.io/admin-access'

/** Allows monitoring devices that others use only in namespaces intended for that (KEP-5018). */
export function createDeviceAdminAccess({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'DeviceAdminAccess',
    handles: ({ resource, operation }) =>
      resource.group === group &&
      (resource.resource === 'resourceclaims' || resource.resource === 'resourceclaimtemplates') &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    check: {
      stands: 'before',
      async causesOf(request) {
        const field = newlyAsked(request)
        if (field === undefined) return []
        const place = { name: request.namespace }
        const asked = getTyped<Namespace>(objects, wellKnown.namespaces, place)
        if (asked?.metadata.labels?.[namespaceLabel] === 'true') return []
        const detail = `admin access to devices requires the \`${namespaceLabel}: true\` label on the containing namespace`
        return [fieldForbidden(field, detail)]
      },
    },
  }
}

/** Returns the first field that newly requests admin access; access granted before needs no further check. */
function newlyAsked({ object, oldObject, resource, subresource, operation }: AdmissionRequest) {
  if (!object) return undefined
  if (subresource === 'status') {
    return oldObject && grantedAt(oldObject) !== undefined ? undefined : grantedAt(object)
  }
  if (operation !== 'CREATE') return undefined
  const devices =
    resource.resource === 'resourceclaims'
      ? typed<ResourceClaim>(object).spec.devices
      : typed<ResourceClaimTemplate>(object).spec.spec.devices
  const at = (devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
  return at < 0 ? undefined : `spec.devices.requests[${at}].adminAccess`
}

function grantedAt(object: AnyObject): string | undefined {
  const results = typed<ResourceClaim>(object).status?.allocation?.devices?.results ?? []
  const at = results.findIndex(({ adminAccess }) => adminAccess === true)
  return at < 0 ? undefined : `status.allocation.devices.results[${at}].adminAccess`
}
