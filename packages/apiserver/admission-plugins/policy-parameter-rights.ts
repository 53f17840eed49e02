import { isDeepStrictEqual } from 'node:util'
import { fieldForbidden, type AnyObject, type StatusCause } from '@skerry/api'
import type { Authorizer } from '../contract/access.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { typed } from '../contract/typed-objects.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

const group = 'admissionregistration.k8s.io'

interface Kindred {
  readonly apiVersion?: string
  readonly kind?: string
}

interface Policy extends AnyObject {
  readonly spec?: { readonly paramKind?: Kindred }
}

interface Binding extends AnyObject {
  readonly spec?: {
    readonly policyName?: string
    readonly paramRef?: { readonly name?: string; readonly namespace?: string }
  }
}

/** Maps binding resources to the policies that they bind. */
const policiesOf: Readonly<Record<string, string>> = Object.freeze({
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
})
const policies: ReadonlySet<string> = new Set(Object.values(policiesOf))

/**
 * Requires that authors of policies and bindings may read the parameters that they name, because a
 * policy shows its parameters to everybody it refuses. A policy needs the right to read all objects
 * of the kind, a binding only those that it refers to.
 */
export function createPolicyParameterRights({ authorizer, objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'PolicyParameterRights',
    handles: ({ resource, subresource, operation, isInternal }) =>
      resource.group === group &&
      (policies.has(resource.resource) || policiesOf[resource.resource] !== undefined) &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !isInternal,
    check: {
      stands: 'after',
      async causesOf(request, own) {
        const { object, oldObject } = request
        if (!object || own.length > 0) return []
        const bound = policiesOf[request.resource.resource]
        if (bound === undefined) return policyCauses(request, { object, oldObject }, authorizer)
        const find = (name: string): Policy | undefined =>
          objects.get({ group, resource: bound }, '', name)
        return bindingCauses(request, { object, oldObject, find }, authorizer)
      },
    },
  }
}

async function policyCauses(
  request: AdmissionRequest,
  { object, oldObject }: { object: AnyObject; oldObject: AnyObject | undefined },
  authorizer: Authorizer,
): Promise<StatusCause[]> {
  const paramKind = typed<Policy>(object).spec?.paramKind
  const before = oldObject && typed<Policy>(oldObject).spec?.paramKind
  if (!paramKind || isDeepStrictEqual(paramKind, before)) return []
  const asked = { verb: 'get', name: '*', namespace: '*', paramKind }
  if (await mayRead(request, asked, authorizer)) return []
  const { kind = '', apiVersion = '' } = paramKind
  const detail = `user ${JSON.stringify(request.user.name)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`
  return [fieldForbidden('spec.paramKind', detail)]
}

async function bindingCauses(
  request: AdmissionRequest,
  {
    object,
    oldObject,
    find,
  }: {
    object: AnyObject
    oldObject: AnyObject | undefined
    find: (name: string) => Policy | undefined
  },
  authorizer: Authorizer,
): Promise<StatusCause[]> {
  const { paramRef, policyName = '' } = typed<Binding>(object).spec ?? {}
  const before = oldObject && typed<Binding>(oldObject).spec
  const isSame = isDeepStrictEqual(paramRef, before?.paramRef) && policyName === before?.policyName
  if (!paramRef || isSame) return []
  const { name = '', namespace = '' } = paramRef
  const verb = name === '' ? 'list' : 'get'
  const paramKind = find(policyName)?.spec?.paramKind
  if (await mayRead(request, { verb, name, namespace, paramKind }, authorizer)) return []
  const who = JSON.stringify(request.user.name)
  const detail = `user ${who} does not have "${verb}" permission on the object referenced by paramRef`
  return [fieldForbidden('spec.paramRef', detail)]
}

/** A kind that is not known yet may become any kind of its group, and an unknown policy may name any kind. */
async function mayRead(
  { user, versions }: AdmissionRequest,
  asked: { verb: string; name: string; namespace: string; paramKind: Kindred | undefined },
  authorizer: Authorizer,
): Promise<boolean> {
  const { paramKind, ...question } = asked
  const { verdict } = await authorizer.authorize({
    ...question,
    user,
    isResourceRequest: true,
    resource: paramKind ? resourceOf(paramKind, versions) : anyResource,
    path: '',
  })
  return verdict === 'allow'
}

const anyResource = Object.freeze({ group: '*', version: '*', resource: '*' })

function resourceOf(
  { apiVersion = '', kind = '' }: Kindred,
  versions: AdmissionRequest['versions'],
) {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return anyResource
  const [version = '', ofGroup = ''] = parts.toReversed()
  const resource = versions.findKind(apiVersion, kind)?.resource ?? '*'
  return { group: ofGroup, version, resource }
}
