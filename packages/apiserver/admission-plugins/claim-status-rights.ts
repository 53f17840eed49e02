import { isDeepStrictEqual } from 'node:util'
import { fieldForbidden, type ResourceClaim, type StatusCause } from '@skerry/api'
import type { Attributes, Authorizer, UserInfo } from '../contract/access.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { forbidden } from '../authz/authorizer-chain.ts'
import { typed } from '../contract/typed-objects.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

const group = 'resource.k8s.io'

type Status = NonNullable<ResourceClaim['status']>

/**
 * Limits the right to write a claim's status: only schedulers may allocate, and each driver answers
 * for its own devices only (KEP-4817).
 */
export function createClaimStatusRights({ authorizer }: PluginDeps): AdmissionPlugin {
  return {
    name: 'ClaimStatusRights',
    handles: ({ resource, subresource, operation }) =>
      resource.group === group &&
      resource.resource === 'resourceclaims' &&
      subresource === 'status' &&
      operation === 'UPDATE',
    check: {
      stands: 'before',
      async causesOf(request) {
        const { object, oldObject } = request
        if (!object || !oldObject) return []
        const next = typed<ResourceClaim>(object).status ?? {}
        const old = typed<ResourceClaim>(oldObject).status ?? {}
        return [
          ...(await bindingCauses(request, { next, old }, authorizer)),
          ...(await deviceCauses(request, { next, old }, authorizer)),
        ]
      },
    },
  }
}

interface Change {
  readonly next: Status
  readonly old: Status
}

async function bindingCauses(
  request: AdmissionRequest,
  { next, old }: Change,
  authorizer: Authorizer,
): Promise<StatusCause[]> {
  const isSame =
    isDeepStrictEqual(next.allocation, old.allocation) &&
    isDeepStrictEqual(next.reservedFor ?? [], old.reservedFor ?? [])
  if (isSame) return []
  const verb = verbOf(request)
  const why = await refusal(attributesOf(request, { verb, subresource: 'binding' }), authorizer)
  if (why === undefined) return []
  const needed = `resource="resourceclaims/binding", verb="${verb}" permission`
  const detail = `changing status.allocation or status.reservedFor requires ${needed}: ${why}`
  return [fieldForbidden('status.allocation', detail)]
}

async function deviceCauses(
  request: AdmissionRequest,
  { next, old }: Change,
  authorizer: Authorizer,
): Promise<StatusCause[]> {
  if (!next.allocation) return []
  const verb = verbOf(request)
  const isOwn = isOnNode(request.user, nodeOf(next))
  const verbs = [...(isOwn ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`]
  const causes: StatusCause[] = []
  for (const driver of changedDrivers({ next, old })) {
    const why = await refusalOfAll(request, { verbs, driver }, authorizer)
    if (why === undefined) continue
    const needed = `resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`
    const detail = `changing status.devices requires ${needed}: ${why}`
    causes.push(fieldForbidden('status.devices', detail))
  }
  return causes
}

/** Any one of the verbs is enough. Reports the first refusal. */
async function refusalOfAll(
  request: AdmissionRequest,
  { verbs, driver }: { verbs: readonly string[]; driver: string },
  authorizer: Authorizer,
): Promise<string | undefined> {
  let first: string | undefined
  for (const verb of verbs) {
    const asked = attributesOf(request, { verb, subresource: 'driver' })
    const place = { namespace: request.namespace, name: driver }
    const why = await refusal({ ...asked, ...place }, authorizer)
    if (why === undefined) return undefined
    first ??= why
  }
  return first
}

function verbOf({ options }: AdmissionRequest): string {
  return options?.kind === 'PatchOptions' ? 'patch' : 'update'
}

function attributesOf(
  { user, resource }: AdmissionRequest,
  asked: { verb: string; subresource: string },
): Attributes {
  return { user, resource, ...asked, isResourceRequest: true, path: '' }
}

async function refusal(asked: Attributes, authorizer: Authorizer): Promise<string | undefined> {
  const { verdict, reason } = await authorizer.authorize(asked)
  return verdict === 'allow' ? undefined : forbidden(asked, reason).message
}

/** Returns the drivers whose entries were added, removed or changed, sorted. */
function changedDrivers({ next, old }: Change): string[] {
  const [after, before] = [next.devices ?? [], old.devices ?? []]
  const only = (list: typeof after, others: typeof after): typeof after =>
    list.filter((device) => !others.some((other) => isDeepStrictEqual(device, other)))
  const changed = [...only(after, before), ...only(before, after)]
  return [...new Set(changed.map(({ driver }) => driver))].sort()
}

/** Returns the node of an allocation that is for one node only. */
function nodeOf({ allocation }: Status): string | undefined {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const { matchExpressions = [], matchFields = [] } = terms[0] ?? {}
  const [field] = matchFields
  const isNode =
    terms.length === 1 &&
    matchExpressions.length === 0 &&
    matchFields.length === 1 &&
    field?.key === 'metadata.name' &&
    field.operator === 'In' &&
    field.values?.length === 1
  return isNode ? field.values?.[0] : undefined
}

/** A service account's token names the node that its pod runs on. */
function isOnNode({ name, extra }: UserInfo, node: string | undefined): boolean {
  const nodes = extra['authentication.kubernetes.io/node-name'] ?? []
  const isAccount = name.startsWith('system:serviceaccount:')
  return node !== undefined && node !== '' && isAccount && nodes.length === 1 && nodes[0] === node
}
