import type { AdmissionPlugin } from './contract/admission.ts'
import { createMutatingPolicies } from './admission-policies/mutating-policies.ts'
import { createValidatingPolicies } from './admission-policies/validating-policies.ts'
import { createEscalationCheck } from './authz/escalation-check.ts'
import { createCertificateContents } from './admission-plugins/certificate-contents.ts'
import {
  createCertificateApproval,
  createCertificateSigning,
  createCertificateSubjectRestriction,
  createClusterTrustBundleAttest,
} from './admission-plugins/certificate-signers.ts'
import {
  createDefaultIngressClass,
  createDefaultStorageClass,
} from './admission-plugins/default-classes.ts'
import { createDefaultTolerationSeconds } from './admission-plugins/default-toleration-seconds.ts'
import { createClaimStatusRights } from './admission-plugins/claim-status-rights.ts'
import { createDenyServiceExternalIps } from './admission-plugins/deny-service-external-ips.ts'
import { createDeviceAdminAccess } from './admission-plugins/device-admin-access.ts'
import { createLimitRanger } from './admission-plugins/limit-ranger.ts'
import { createNamespaceLifecycle } from './admission-plugins/namespace-lifecycle.ts'
import { createNodeDeclaredFeatureValidator } from './admission-plugins/node-declared-features.ts'
import { createNodeRestriction } from './admission-plugins/node-restriction.ts'
import type { PluginDeps } from './webhooks/plugin-deps.ts'
import { createPolicyParameterRights } from './admission-plugins/policy-parameter-rights.ts'
import { createPodPartRules } from './admission-plugins/pod-part-rules.ts'
import { createPodResizeValidator } from './admission-plugins/pod-resize-validator.ts'
import { createPodSecurity } from './admission-plugins/pod-security.ts'
import { createPodTopologyLabels } from './admission-plugins/pod-topology-labels.ts'
import { createPriority } from './admission-plugins/priority.ts'
import { createResourceQuota } from './admission-plugins/resource-quota.ts'
import { createRuntimeClassPlugin } from './admission-plugins/runtime-class.ts'
import { createServiceAccountPlugin } from './admission-plugins/service-account.ts'
import {
  createClaimResize,
  createStorageObjectInUseProtection,
} from './admission-plugins/storage-protection.ts'
import { createTaintNodesByCondition } from './admission-plugins/taint-nodes-by-condition.ts'
import { createMutatingWebhooks } from './webhooks/mutating-webhooks.ts'
import { createValidatingWebhooks } from './webhooks/validating-webhooks.ts'

/**
 * The plugins that are on by default, in upstream's order, which matters because a later one sees
 * the changes of earlier ones. Policies and webhooks come after this server's own decisions, and
 * ResourceQuota comes last, so that nothing is counted that another plugin refuses.
 */
const defaultPlugins: readonly ((deps: PluginDeps) => AdmissionPlugin)[] = [
  ({ rules, authorizer }) => createEscalationCheck(rules, authorizer),
  createPodPartRules,
  createCertificateContents,
  createDeviceAdminAccess,
  createClaimStatusRights,
  createPolicyParameterRights,
  createNamespaceLifecycle,
  createLimitRanger,
  createServiceAccountPlugin,
  createNodeRestriction,
  createTaintNodesByCondition,
  createPodSecurity,
  createPriority,
  createDefaultTolerationSeconds,
  createDefaultStorageClass,
  createStorageObjectInUseProtection,
  createClaimResize,
  createRuntimeClassPlugin,
  createCertificateApproval,
  createCertificateSigning,
  createClusterTrustBundleAttest,
  createCertificateSubjectRestriction,
  createDefaultIngressClass,
  createPodTopologyLabels,
  createNodeDeclaredFeatureValidator,
  createPodResizeValidator,
  createMutatingPolicies,
  createMutatingWebhooks,
  createValidatingPolicies,
  createValidatingWebhooks,
]

/** Plugins that are off by default, each before ResourceQuota. */
const optionalPlugins: Readonly<Record<string, (deps: PluginDeps) => AdmissionPlugin>> =
  Object.freeze({ DenyServiceExternalIPs: createDenyServiceExternalIps })

/** The names of plugins that an operator may enable in addition to those that are always on. */
export const optionalPluginNames: readonly string[] = Object.freeze(Object.keys(optionalPlugins))

/** `enabled` names plugins in addition to those that are on by default. */
export function createDefaultPlugins(
  deps: PluginDeps,
  enabled: readonly string[] = [],
): AdmissionPlugin[] {
  const further = enabled.flatMap((name) => optionalPlugins[name] ?? [])
  return [...defaultPlugins, ...further, createResourceQuota].map((create) => create(deps))
}
