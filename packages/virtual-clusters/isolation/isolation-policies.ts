import type { AnyObject, JsonObject } from '@skerry/api'
import {
  closingLabel,
  groupLabel,
  virtualNamespaceLabels,
  isolationName,
} from '@skerry/fleet-kinds'
import { confinedVolumes, podSecurityLabel, podSecurityLevel } from '../mapping/host-access.ts'
import { addressRules, claimRules } from './content-rules.ts'
import {
  inVirtualClusters,
  matching,
  mayUpdate,
  mayUpdateEverywhere,
  mayUpdateOwner,
  owner,
} from './policy-parts.ts'

export interface IsolationPolicyOptions {
  /** Users who bind pods to nodes, in addition to kube-scheduler's, a Skerry site's, and administrators. */
  readonly schedulers?: readonly string[]
}

const apiVersion = 'admissionregistration.k8s.io/v1'
const { cluster: clusterLabel, namespace: namespaceLabel } = virtualNamespaceLabels

/** The schedulers that check a pod's node selector before they bind it. */
const knownSchedulers = Object.freeze(['system:kube-scheduler', 'system:skerry-site'])

/**
 * Returns the ValidatingAdmissionPolicies and bindings that keep everything in an edge cluster inside its
 * virtual cluster, in the order in which they are applied. An edge cluster needs them once; they cover
 * namespaces of virtual clusters only. A user who may update a VirtualCluster may change the owner of a
 * namespace.
 */
export function isolationPolicies({ schedulers = [] }: IsolationPolicyOptions = {}): AnyObject[] {
  return [
    ...policy('virtual-cluster-pods.edge.skerry.io', podRules),
    ...policy('virtual-cluster-bindings.edge.skerry.io', bindingRules(schedulers)),
    ...policy('virtual-cluster-namespaces.edge.skerry.io', namespaceRules),
    ...policy('virtual-cluster-isolation.edge.skerry.io', isolationRules),
    ...policy('virtual-cluster-services.edge.skerry.io', addressRules.services),
    ...policy('virtual-cluster-gateways.edge.skerry.io', addressRules.gateways),
    ...policy('virtual-cluster-claims.edge.skerry.io', claimRules),
    ...policy('virtual-cluster-closing.edge.skerry.io', closingRules),
  ]
}

function policy(name: string, spec: JsonObject): AnyObject[] {
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { failurePolicy: 'Fail', ...spec },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}

/** A pod's node selector never changes but to select less: it is enough to see it made. */
const podRules: JsonObject = {
  matchConstraints: {
    ...matching({ resources: ['pods'], operations: ['CREATE'] }),
    namespaceSelector: inVirtualClusters,
  },
  variables: [owner, { name: 'level', expression: labelOf('namespaceObject', podSecurityLabel) }],
  validations: [
    {
      expression: `has(object.spec.nodeSelector) && '${groupLabel}' in object.spec.nodeSelector && object.spec.nodeSelector['${groupLabel}'] == variables.cluster`,
      message: 'a pod of a virtual cluster selects its nodes',
      messageExpression: `"a pod of virtual cluster " + variables.cluster + " needs node selector ${groupLabel}: " + variables.cluster`,
      reason: 'Forbidden',
    },
    {
      expression: `!has(object.spec.nodeName) || object.spec.nodeName == ''`,
      message: 'a pod of a virtual cluster is placed by the scheduler: it names no node',
      reason: 'Forbidden',
    },
    {
      expression: `variables.level in ['', 'privileged'] || !has(object.spec.volumes) || object.spec.volumes.all(volume, ${confinedVolumes.map((field) => `has(volume.${field})`).join(' || ')})`,
      message:
        'a pod of a virtual cluster names no volume that reaches its node, or disks with the rights of its node: have the edge set spec.isolation.allowsHostAccess of the VirtualCluster',
      reason: 'Forbidden',
    },
  ],
}

/**
 * Returns the rules for bindings. The client that binds a pod names the node, and a policy cannot see whether
 * that node is in the group. A scheduler with its own user name runs as an administrator, or is listed.
 */
function bindingRules(schedulers: readonly string[]): JsonObject {
  const users = [...knownSchedulers, ...schedulers].map((name) => JSON.stringify(name)).join(', ')
  return {
    matchConstraints: {
      ...matching({ resources: ['pods/binding', 'bindings'], operations: ['CREATE'] }),
      namespaceSelector: inVirtualClusters,
    },
    variables: [owner],
    validations: [
      {
        expression: `request.userInfo.username in [${users}] || ${mayUpdateOwner}`,
        message: 'pods of a virtual cluster are bound by the scheduler alone',
        reason: 'Forbidden',
      },
    ],
  }
}

function labelOf(object: string, label: string): string {
  return `${object} != null && has(${object}.metadata.labels) && '${label}' in ${object}.metadata.labels ? ${object}.metadata.labels['${label}'] : ''`
}

const namespaceRules: JsonObject = {
  matchConstraints: matching({
    resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
    operations: ['CREATE', 'UPDATE'],
  }),
  variables: [
    { name: 'clusterBefore', expression: labelOf('oldObject', clusterLabel) },
    { name: 'clusterAfter', expression: labelOf('object', clusterLabel) },
    { name: 'nameBefore', expression: labelOf('oldObject', namespaceLabel) },
    { name: 'nameAfter', expression: labelOf('object', namespaceLabel) },
    { name: 'levelBefore', expression: labelOf('oldObject', podSecurityLabel) },
    { name: 'levelAfter', expression: labelOf('object', podSecurityLabel) },
  ],
  validations: [
    {
      expression: `variables.clusterAfter == '' || variables.levelAfter == variables.levelBefore || variables.levelAfter in ['${podSecurityLevel}', 'restricted'] || ${mayUpdate('variables.clusterAfter')}`,
      message: `label ${podSecurityLabel} keeps pods from their nodes: only a user who may update the VirtualCluster may change it to a level other than ${podSecurityLevel} or restricted`,
      reason: 'Forbidden',
    },
    {
      expression: `variables.clusterBefore == variables.clusterAfter && variables.nameBefore == variables.nameAfter || [variables.clusterBefore, variables.clusterAfter].all(each, each == '' || ${mayUpdate('each')})`,
      message: `labels ${clusterLabel} and ${namespaceLabel} say whose a namespace is: only a user who may update that VirtualCluster may change them`,
      reason: 'Forbidden',
    },
  ],
}

/** Keeps new objects out of a namespace after it was found empty, which would be deleted with it. */
const closingRules: JsonObject = {
  matchConstraints: {
    ...matching({ apiGroup: '*', resources: ['*'], operations: ['CREATE'], scope: 'Namespaced' }),
    namespaceSelector: { matchExpressions: [{ key: closingLabel, operator: 'Exists' }] },
  },
  validations: [
    {
      expression: `namespaceObject == null || !('${closingLabel}' in namespaceObject.metadata.labels)`,
      message: `the namespace is empty, and its virtual cluster's agent removes it: try again in a moment, or remove its label ${closingLabel}`,
      reason: 'Forbidden',
    },
  ],
}

/**
 * Keeps users of a namespace from removing its isolation. Deleting the namespace itself removes the
 * isolation, too.
 */
const isolationRules: JsonObject = {
  matchConstraints: {
    ...matching(
      {
        apiGroup: 'networking.k8s.io',
        resources: ['networkpolicies', 'networkpolicies/status'],
        operations: ['UPDATE', 'DELETE'],
      },
      { resources: ['resourcequotas', 'resourcequotas/status'], operations: ['UPDATE', 'DELETE'] },
    ),
    namespaceSelector: inVirtualClusters,
  },
  matchConditions: [
    { name: 'is-isolation', expression: `oldObject.metadata.name == '${isolationName}'` },
  ],
  variables: [owner],
  validations: [
    {
      expression: `has(namespaceObject.metadata.deletionTimestamp) || ${mayUpdateOwner} || request.subResource == 'status' && ${mayUpdateEverywhere('', 'resourcequotas', 'status')}`,
      message:
        'it isolates a virtual cluster: only a user who may update that VirtualCluster may change it',
      reason: 'Forbidden',
    },
  ],
}
