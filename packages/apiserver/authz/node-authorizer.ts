import { exactFieldValue, isStatusError, parseFieldSelector, type PolicyRule } from '@skerry/api'
import type { Attributes, Authorizer, Decision } from '../contract/access.ts'
import { nodeNameOf } from '../contract/user-names.ts'
import type { Objects } from '../contract/objects.ts'
import { nodeReaches, type ReachableKind } from './node-references.ts'
import { ruleAllows } from './policy-rules.ts'

interface NodeQuestion extends Attributes {
  readonly nodeName: string
  readonly objects: Objects
}
type Answer = (question: NodeQuestion) => Decision

const allow: Decision = Object.freeze({ verdict: 'allow', reason: '' })
const nodeLeaseNamespace = 'kube-node-lease'

/**
 * Authorizes a kubelet's own identity: it may read what its pods use, and write its own node, lease
 * and pods. The NodeRestriction admission plugin checks the bodies of writes. `uniformRules` apply
 * to every node (upstream's role system:node).
 */
export function createNodeAuthorizer(
  objects: Objects,
  uniformRules: readonly PolicyRule[],
): Authorizer {
  return {
    async authorize(asked) {
      const nodeName = nodeNameOf(asked.user)
      if (nodeName === undefined) return noOpinion('')
      if (nodeName === '') {
        return noOpinion(`unknown node for user ${JSON.stringify(asked.user.name)}`)
      }
      const key = `${asked.resource?.group ?? ''}/${asked.resource?.resource ?? ''}`
      const answer = asked.isResourceRequest ? answers[key] : undefined
      if (answer) return answer({ ...asked, nodeName, objects })
      return uniformRules.some((rule) => ruleAllows(rule, asked)) ? allow : noOpinion('')
    },
  }
}

const answers: Readonly<Record<string, Answer>> = Object.freeze({
  '/secrets': readRelated('secrets'),
  '/configmaps': readRelated('configmaps'),
  '/persistentvolumeclaims': (question) =>
    question.subresource === 'status'
      ? updateClaimStatus(question)
      : getRelated('persistentvolumeclaims')(question),
  '/persistentvolumes': getRelated('persistentvolumes'),
  '/serviceaccounts': serviceAccount,
  '/nodes': node,
  '/pods': pod,
  'storage.k8s.io/volumeattachments': getRelated('volumeattachments'),
  'storage.k8s.io/csinodes': ownObject('a CSINode', 'CSINode'),
  'resource.k8s.io/resourceclaims': getRelated('resourceclaims'),
  'resource.k8s.io/resourceslices': resourceSlice,
  'coordination.k8s.io/leases': lease,
})

function noOpinion(reason: string): Decision {
  return { verdict: 'no-opinion', reason }
}

function related(question: NodeQuestion, kind: ReachableKind): Decision {
  const { nodeName, name = '', namespace = '' } = question
  if (name === '') return noOpinion('No Object name found')
  if (nodeReaches(question.objects, nodeName, { kind, namespace, name })) return allow
  return noOpinion(`no relationship found between node '${nodeName}' and this object`)
}

function readRelated(kind: ReachableKind): Answer {
  return (question) => {
    if (!['get', 'list', 'watch'].includes(question.verb)) {
      return noOpinion('can only read resources of this type')
    }
    if (question.subresource) return noOpinion('cannot read subresource')
    if (!question.namespace) return noOpinion('can only read namespaced object of this type')
    return related(question, kind)
  }
}

function getRelated(kind: ReachableKind): Answer {
  return (question) => {
    if (question.verb !== 'get') {
      return noOpinion('can only get individual resources of this type')
    }
    if (question.subresource) return noOpinion('cannot get subresource')
    return related(question, kind)
  }
}

function updateClaimStatus(question: NodeQuestion): Decision {
  if (question.verb !== 'update' && question.verb !== 'patch') {
    return noOpinion('can only get/update/patch this type')
  }
  return related(question, 'persistentvolumeclaims')
}

function serviceAccount(question: NodeQuestion): Decision {
  if (question.verb === 'get' && !question.subresource) {
    return readRelated('serviceaccounts')(question)
  }
  if (question.verb !== 'create' || !question.name) {
    return noOpinion('can only create tokens for individual service accounts')
  }
  if (question.subresource !== 'token') {
    return noOpinion('can only create token subresource of serviceaccount')
  }
  return related(question, 'serviceaccounts')
}

function node(question: NodeQuestion): Decision {
  const { verb, subresource = '', name = '', nodeName } = question
  if (subresource === 'status') return isOneOf(verb, ['update', 'patch'])
  if (subresource !== '') return noOpinion('')
  if (!['get', 'list', 'watch'].includes(verb)) return isOneOf(verb, ['create', 'update', 'patch'])
  // Compares the name, so that a kubelet can look for its own node before it exists.
  if (name === nodeName) return allow
  const wanted = name === '' ? 'read all nodes' : `read '${name}'`
  return noOpinion(`node '${nodeName}' cannot ${wanted}, only its own Node object`)
}

function pod(question: NodeQuestion): Decision {
  const { verb, subresource = '' } = question
  if (subresource === 'status') return isOneOf(verb, ['update', 'patch'])
  if (subresource === 'eviction') return isOneOf(verb, ['create'])
  if (subresource !== '') return noOpinion('')
  if (verb === 'get') return getRelated('pods')(question)
  if (verb !== 'list' && verb !== 'watch') return isOneOf(verb, ['create', 'delete'])
  if (selects(question.fieldSelector, 'spec.nodeName', question.nodeName)) return allow
  if (question.name) return related(question, 'pods')
  return noOpinion('can only list/watch pods with spec.nodeName field selector')
}

function lease(question: NodeQuestion): Decision {
  if (!ownVerbs.includes(question.verb)) {
    return noOpinion('can only get, create, update, patch, or delete a node lease')
  }
  if (question.namespace !== nodeLeaseNamespace) {
    return noOpinion(`can only access leases in the "${nodeLeaseNamespace}" system namespace`)
  }
  if (question.verb === 'create' || question.name === question.nodeName) return allow
  return noOpinion('can only access node lease with the same name as the requesting node')
}

function resourceSlice(question: NodeQuestion): Decision {
  const { verb, subresource, fieldSelector, nodeName } = question
  if (subresource) return noOpinion('cannot authorize ResourceSlice subresources')
  switch (verb) {
    case 'create':
      return allow
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(question, 'resourceslices')
    case 'list':
    case 'watch':
    case 'deletecollection':
      if (selects(fieldSelector, 'spec.nodeName', nodeName)) return allow
      return noOpinion(
        'can only list/watch/deletecollection resourceslices with nodeName field selector',
      )
    default:
      return noOpinion(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      )
  }
}

const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete']

function ownObject(phrase: string, kind: string): Answer {
  return (question) => {
    if (!ownVerbs.includes(question.verb)) {
      return noOpinion(`can only get, create, update, patch, or delete ${phrase}`)
    }
    if (question.subresource) return noOpinion(`cannot authorize ${kind} subresources`)
    if (question.verb === 'create' || question.name === question.nodeName) return allow
    return noOpinion(`can only access ${kind} with the same name as the requesting node`)
  }
}

function isOneOf(verb: string, verbs: readonly string[]): Decision {
  return verbs.includes(verb) ? allow : noOpinion('')
}

/** Returns true if the selector can only match objects whose field has exactly this value. */
function selects(selector: string | undefined, field: string, value: string): boolean {
  if (!selector) return false
  try {
    return exactFieldValue(parseFieldSelector(selector), field) === value
  } catch (error) {
    // The registry reports the error in the selector; here it just narrows nothing.
    if (isStatusError(error, 'BadRequest')) return false
    throw error
  }
}
