import type { JsonObject } from '@skerry/api'
import { addressAnnotations, notedByKubectl } from '../mapping/external-addresses.ts'
import { selectedNodeAnnotation } from '../mapping/wordless.ts'
import {
  inVirtualClusters,
  matching,
  mayUpdateEverywhere,
  mayUpdateOwner,
  owner,
} from './policy-parts.ts'

/**
 * The refusals of mapping/, as admission policies for clients that write to the edge directly, as pods of a
 * virtual cluster do. The edge's controllers pass, because they may change such objects in every namespace,
 * and so do users who may update the VirtualCluster, such as its agent. The other tables of mapping/ need no
 * policy. Their references take effect only if the other namespace agrees (ReferenceGrant, allowedRoutes), or
 * only in the object's own namespace (subjects of bindings, peers of NetworkPolicies), or only place a pod
 * among its own nodes (affinity). No RoleBinding grants kinds without a namespace.
 */

/** A CEL expression for the addresses that an object of its kind names. */
type AddressesOf = (object: string) => string

const ofService: AddressesOf = (object) =>
  [
    `(has(${object}.spec.externalIPs) ? ${object}.spec.externalIPs : [])`,
    `(has(${object}.spec.loadBalancerIP) && ${object}.spec.loadBalancerIP != '' ? [${object}.spec.loadBalancerIP] : [])`,
    `(has(${object}.status) && has(${object}.status.loadBalancer) && has(${object}.status.loadBalancer.ingress) ? ${object}.status.loadBalancer.ingress.filter(each, has(each.ip)).map(each, each.ip) : [])`,
  ].join(' + ')

const ofGateway: AddressesOf = (object) =>
  ['spec', 'status']
    .map(
      (part) =>
        `(has(${object}.${part}) && has(${object}.${part}.addresses) ? ${object}.${part}.addresses.filter(each, has(each.value)).map(each, each.value) : [])`,
    )
    .join(' + ')

/** A value that is an address, or a list with one. CEL's own isIP needs an edge of 1.31. */
const addressText = String.raw`(^|[\s,;"'\[])((\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|[0-9a-fA-F:]*::[0-9a-fA-F:.]*)($|[\s,;"'\]])`

const annotationsOf = (object: string): string =>
  `${object} != null && has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {}`

function addressRulesOf(group: string, resource: string, addressesOf: AddressesOf): JsonObject {
  const known = [...addressAnnotations].map((key) => `'${key}'`).join(', ')
  const isTrusted = `${mayUpdateOwner} || ${mayUpdateEverywhere(group, resource, 'status')}`
  return {
    matchConstraints: {
      ...matching({
        apiGroup: group,
        resources: [resource, `${resource}/status`],
        operations: ['CREATE', 'UPDATE'],
      }),
      namespaceSelector: inVirtualClusters,
    },
    variables: [
      owner,
      { name: 'before', expression: `oldObject == null ? [] : ${addressesOf('oldObject')}` },
      { name: 'after', expression: addressesOf('object') },
      { name: 'notesBefore', expression: annotationsOf('oldObject') },
      { name: 'notesAfter', expression: annotationsOf('object') },
      {
        name: 'asks',
        expression: `variables.notesAfter.exists(key, key != '${notedByKubectl}' && (key in [${known}] || variables.notesAfter[key].matches(${celText(addressText)})) && !(key in variables.notesBefore && variables.notesBefore[key] == variables.notesAfter[key]))`,
      },
    ],
    validations: [
      {
        expression: `variables.after.all(each, each in variables.before) && !variables.asks || ${isTrusted}`,
        message:
          'it takes traffic for an address: a user with rights in a namespace of a virtual cluster alone must send it in a Work, as far as the edge lists the address in spec.isolation.externalAddresses',
        reason: 'Forbidden',
      },
    ],
  }
}

/** Quotes a text for CEL, with backslashes kept. */
const celText = (text: string): string => JSON.stringify(text)

export const addressRules: Readonly<Record<'services' | 'gateways', JsonObject>> = Object.freeze({
  services: addressRulesOf('', 'services', ofService),
  gateways: addressRulesOf('gateway.networking.k8s.io', 'gateways', ofGateway),
})

const textIn = (object: string, path: string): string =>
  `${object} != null && has(${object}.spec.${path}) ? ${object}.spec.${path} : ''`

const nodeIn = (object: string): string =>
  `${object} != null && has(${object}.metadata.annotations) && '${selectedNodeAnnotation}' in ${object}.metadata.annotations ? ${object}.metadata.annotations['${selectedNodeAnnotation}'] : ''`

/**
 * The volumes that a virtual cluster was sent have names that end in its own name (`ownName`). A new claim
 * may name no other volume, whichever user creates it: controllers create claims from a StatefulSet or a pod
 * with their own rights. The edge binds claims later.
 */
export const claimRules: JsonObject = {
  matchConstraints: {
    ...matching({ resources: ['persistentvolumeclaims'], operations: ['CREATE', 'UPDATE'] }),
    namespaceSelector: inVirtualClusters,
  },
  variables: [
    owner,
    { name: 'before', expression: textIn('oldObject', 'volumeName') },
    { name: 'after', expression: textIn('object', 'volumeName') },
    {
      name: 'isOwn',
      expression: `variables.after.endsWith('-' + variables.cluster) && variables.after.substring(0, size(variables.after) - size(variables.cluster) - 1).matches('^([^-]|--)+$')`,
    },
    { name: 'nodeBefore', expression: nodeIn('oldObject') },
    { name: 'nodeAfter', expression: nodeIn('object') },
    {
      name: 'isTrusted',
      expression: `oldObject != null && (${mayUpdateOwner} || ${mayUpdateEverywhere('', 'persistentvolumeclaims')})`,
    },
  ],
  validations: [
    {
      expression: `variables.after == variables.before || variables.isOwn || variables.isTrusted`,
      message: 'a claim of a virtual cluster names no volume but one that it was sent',
      reason: 'Forbidden',
    },
    {
      expression: `variables.nodeAfter == variables.nodeBefore || variables.nodeAfter == '' || variables.isTrusted`,
      message: `annotation ${selectedNodeAnnotation} has a node make a volume: it is the scheduler's to set`,
      reason: 'Forbidden',
    },
  ],
}
