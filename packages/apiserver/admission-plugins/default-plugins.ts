import type { AdmissionPlugin } from '../admission.ts'
import { createMutatingPolicies } from '../admission-policies/mutating-policies.ts'
import { createValidatingPolicies } from '../admission-policies/validating-policies.ts'
import { createEscalationCheck } from '../authz/escalation-check.ts'
import { createCertificateContents } from './certificate-contents.ts'
import {
  createCertificateApproval,
  createCertificateSigning,
  createCertificateSubjectRestriction,
  createClusterTrustBundleAttest,
} from './certificate-signers.ts'
import { createDefaultIngressClass, createDefaultStorageClass } from './default-classes.ts'
import { createDefaultTolerationSeconds } from './default-toleration-seconds.ts'
import { createClaimStatusRights } from './claim-status-rights.ts'
import { createDenyServiceExternalIps } from './deny-service-external-ips.ts'
import { createDeviceAdminAccess } from './device-admin-access.ts'
import { createLimitRanger } from './limit-ranger.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import { createNodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { createNodeRestriction } from './node-restriction.ts'
import type { PluginDeps } from './plugin-deps.ts'
import { createPolicyParameterRights } from './policy-parameter-rights.ts'
import { createPodPartRules } from './pod-part-rules.ts'
import { createPodResizeValidator } from './pod-resize-validator.ts'
import { createPodSecurity } from './pod-security.ts'
import { createPodTopologyLabels } from './pod-topology-labels.ts'
import { createPriority } from './priority.ts'
import { createResourceQuota } from './resource-quota.ts'
import { createRuntimeClassPlugin } from './runtime-class.ts'
import { createServiceAccountPlugin } from './service-account.ts'
import { createClaimResize, createStorageObjectInUseProtection } from './storage-protection.ts'
import { createTaintNodesByCondition } from './taint-nodes-by-condition.ts'
import { createMutatingWebhooks } from '../webhooks/mutating-webhooks.ts'
import { createValidatingWebhooks } from '../webhooks/validating-webhooks.ts'

/**
 * The plugins that are on by default, in upstream's order, which matters: a later one sees what an
 * earlier one changed. Policies and webhooks come after what this server decides by itself, and
 * ResourceQuota stays last so that nothing is counted that another plugin refuses.
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

/** What may be asked for in addition to the plugins that are always on. */
export const optionalPluginNames: readonly string[] = Object.freeze(Object.keys(optionalPlugins))

/** `enabled` names plugins in addition to those that are on by default. */
export function createDefaultPlugins(
  deps: PluginDeps,
  enabled: readonly string[] = [],
): AdmissionPlugin[] {
  const further = enabled.flatMap((name) => optionalPlugins[name] ?? [])
  return [...defaultPlugins, ...further, createResourceQuota].map((create) => create(deps))
}
