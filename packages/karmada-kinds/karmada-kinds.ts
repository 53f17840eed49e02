import { kindsOfCustomResource } from '@skerry/kinds'
import type { CustomResourceDefinition, Kind, Strategy } from '@skerry/api'
import { withSchemaHooks } from '@skerry/apiserver'
import { interpreterWebhookRules } from './admission/interpreter-webhook-rules.ts'
import { bindingRules } from './binding/resource-binding-kind.ts'
import type { KindRules } from './rules/kind-rules.ts'
import { clusterTaintPolicyRules } from './policy/cluster-taint-policy-kind.ts'
import { overridePolicyRules } from './policy/override-policy-kind.ts'
import { propagationPolicyRules } from './policy/propagation-policy-kind.ts'
import type { TenantRules } from './policy/tenant-rules.ts'
import { workKindRules } from './work/work-kind.ts'

export interface KarmadaKindsOptions {
  /** A ClusterTaintPolicy may evict. Default false, as upstream's. */
  readonly allowsNoExecute?: boolean
  /** Rules for what the writers of one namespace may do to others. */
  readonly rules?: TenantRules
}

/**
 * Karmada's policies, bindings, Works and interpreters' configurations, as an API server serves them:
 * by the schemas of its CRDs, then by the rules of its webhooks. They need the built-in kinds, whose
 * definitions they refer to.
 */
export async function karmadaKinds(
  builtin: readonly Kind[],
  { allowsNoExecute = false, rules = {} }: KarmadaKindsOptions = {},
): Promise<Kind[]> {
  const rulesOf: Readonly<Record<string, KindRules>> = {
    PropagationPolicy: propagationPolicyRules,
    ClusterPropagationPolicy: propagationPolicyRules,
    OverridePolicy: overridePolicyRules(rules),
    ClusterOverridePolicy: overridePolicyRules(rules),
    ClusterTaintPolicy: clusterTaintPolicyRules(allowsNoExecute),
    ResourceBinding: bindingRules,
    ClusterResourceBinding: bindingRules,
    ResourceInterpreterWebhookConfiguration: interpreterWebhookRules,
    Work: workKindRules,
  }
  const schemas = builtin[0]?.schemas ?? {}
  const definitions = await loadDefinitions()
  return definitions
    .flatMap((definition) => kindsOfCustomResource(definition, schemas))
    .map((kind) =>
      withRules(
        withSchemaHooks(kind, [kind], () => false),
        rulesOf[kind.kind] ?? {},
      ),
    )
}

async function loadDefinitions(): Promise<readonly CustomResourceDefinition[]> {
  const { default: definitions } = await import('./generated/definitions.json', {
    with: { type: 'json' },
  })
  // dev/hack/generate-karmada.ts writes the file from values of this very type.
  return definitions as unknown as CustomResourceDefinition[]
}

/** The schema speaks first, and rules only of an object that it has found in order. */
function withRules(kind: Kind, { prepare, validate }: KindRules): Kind {
  const { strategy } = kind
  const own: Strategy = {
    prepareForCreate(next, context) {
      strategy.prepareForCreate?.(next, context)
      prepare?.(next, context, true)
    },
    prepareForUpdate(next, old, context) {
      strategy.prepareForUpdate?.(next, old, context)
      prepare?.(next, context, false)
    },
    validate(object) {
      const causes = strategy.validate?.(object) ?? []
      return causes.length > 0 || !validate ? causes : validate(object)
    },
    validateUpdate(next, old, warn) {
      const causes = strategy.validateUpdate?.(next, old, warn) ?? []
      return causes.length > 0 || !validate ? causes : validate(next, old)
    },
  }
  return { ...kind, strategy: { ...strategy, ...own } }
}
