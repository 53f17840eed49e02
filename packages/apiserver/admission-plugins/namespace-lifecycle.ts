import { StatusError, type Namespace } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped } from '../contract/typed-objects.ts'
import { unreadableObject } from '../contract/unreadable-object.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

const immortal: readonly string[] = ['default', 'kube-system', 'kube-public']

/** Refuses to create objects in a namespace that is missing or being deleted. */
export function createNamespaceLifecycle({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation }) => operation !== 'CONNECT',
    async admit(request) {
      const isNamespace = isResource(request.resource, wellKnown.namespaces)
      if (isNamespace && request.operation === 'DELETE' && immortal.includes(request.name)) {
        throw refuse(request, 'this namespace may not be deleted')
      }
      if (isNamespace || !needsNamespace(request)) return
      const namespace = getTyped<Namespace>(objects, wellKnown.namespaces, {
        name: request.namespace,
      })
      if (!namespace) throw missingNamespace(objects, request.namespace)
      if (request.operation === 'CREATE' && namespace.status?.phase === 'Terminating') {
        throw terminating(request)
      }
    },
  }
}

/** Reviews are let through, so that they do not reveal which namespaces exist. */
function needsNamespace({ namespace, operation, resource }: AdmissionRequest): boolean {
  if (namespace === '' || operation === 'DELETE') return false
  return resource.resource !== 'localsubjectaccessreviews'
}

function missingNamespace(objects: Objects, name: string): StatusError {
  const reason = objects.unreadable(wellKnown.namespaces, '', name)
  if (reason !== undefined) {
    const shown = `namespaces ${JSON.stringify(name)}: ${reason}`
    return unreadableObject({ resource: 'namespaces', name }, reason, shown)
  }
  return new StatusError('NotFound', `namespaces ${JSON.stringify(name)} not found`, {
    details: { name, kind: 'namespaces' },
  })
}

function terminating(request: AdmissionRequest): StatusError {
  const { namespace } = request
  return refuse(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  )
}
