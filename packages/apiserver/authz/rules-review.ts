import { StatusError, type PolicyRule, type SelfSubjectRulesReview } from '@skerry/api'
import { nodeNameOf, systemGroups } from '../contract/user-names.ts'
import type { UserInfo } from '../contract/access.ts'
import type { ReviewHandler } from '../contract/review.ts'
import { typed } from '../contract/typed-objects.ts'
import type { RuleResolver } from './rule-resolver.ts'

const everything: readonly PolicyRule[] = Object.freeze([
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
])

/** Rights of a user that no role grants, as rules. */
export type FurtherRules = (user: UserInfo) => readonly PolicyRule[]

export interface RulesReviewOptions {
  readonly hasWebhook?: () => boolean
  readonly furtherRules?: FurtherRules | undefined
}

/** Answers "What may I do in that namespace?", for `kubectl auth can-i --list`. */
export function createSelfSubjectRulesReview(
  rules: RuleResolver,
  { hasWebhook = () => false, furtherRules = () => [] }: RulesReviewOptions = {},
): ReviewHandler {
  return {
    async review({ object, user, admitValid }) {
      const { spec } = typed<SelfSubjectRulesReview>(object)
      if (!spec.namespace) throw new StatusError('BadRequest', 'no namespace on request')
      await admitValid()
      const missing: string[] = []
      const granted = [...rules.rulesFor(user, spec.namespace, (text) => missing.push(text))]
      const isMaster = user.groups.includes(systemGroups.masters)
      const all = [
        ...(isMaster ? everything : []),
        ...granted.map(({ rule }) => rule),
        ...furtherRules(user),
      ]
      // A node's further rights depend on its pods, so no list of rules is complete.
      if (nodeNameOf(user) !== undefined) {
        missing.push('node authorizer does not support user rule resolution')
      }
      if (hasWebhook()) missing.push('webhook authorizer does not support user rule resolution')
      return {
        ...object,
        // Upstream returns neither the name nor the question.
        metadata: {},
        spec: {},
        status: {
          resourceRules: all.filter((rule) => rule.resources?.length).map(resourceRule),
          nonResourceRules: all.filter((rule) => rule.nonResourceURLs?.length).map(pathRule),
          incomplete: missing.length > 0,
          ...(missing.length > 0 ? { evaluationError: [...new Set(missing)].join(', ') } : {}),
        },
      }
    },
  }
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule) {
  return { verbs, apiGroups, resources, ...(resourceNames ? { resourceNames } : {}) }
}

function pathRule({ verbs, nonResourceURLs }: PolicyRule) {
  return { verbs, nonResourceURLs }
}
