import type { AdmissionPlugin } from '../admission.ts'
import { createEscalationCheck } from '../authz/escalation-check.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import type { PluginDeps } from './plugin-deps.ts'
import { createServiceAccountPlugin } from './service-account.ts'

/**
 * The plugins that are on by default, in upstream's order, which matters: a later one sees what an
 * earlier one changed. ValidatingAdmissionPolicy and the webhooks belong before ResourceQuota,
 * which stays last so that nothing is counted that another plugin refuses.
 */
const defaultPlugins: readonly ((deps: PluginDeps) => AdmissionPlugin)[] = [
  ({ rules, authorizer }) => createEscalationCheck(rules, authorizer),
  createNamespaceLifecycle,
  createServiceAccountPlugin,
]

export function createDefaultPlugins(deps: PluginDeps): AdmissionPlugin[] {
  return defaultPlugins.map((create) => create(deps))
}
