import type { Authorizer } from '../contract/access.ts'
import { systemGroups } from '../contract/user-names.ts'
import { ruleAllows } from './policy-rules.ts'
import type { RuleResolver } from './rule-resolver.ts'

/**
 * Implements role-based access control. It is purely additive, so a request that no rule allows
 * gets no opinion.
 */
export function createRbacAuthorizer(rules: RuleResolver): Authorizer {
  return {
    async authorize(asked) {
      const missing: string[] = []
      const onMissing = (message: string): void => void missing.push(message)
      for (const { rule, reason } of rules.rulesFor(asked.user, asked.namespace ?? '', onMissing)) {
        if (ruleAllows(rule, asked)) return { verdict: 'allow', reason }
      }
      const reason = missing.length === 0 ? '' : `RBAC: ${describeMissing(missing)}`
      return { verdict: 'no-opinion', reason }
    },
  }
}

/**
 * Members of system:masters may do anything, so that an administrator can get back in after
 * breaking every role.
 */
export const mastersAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user }) {
    return user.groups.includes(systemGroups.masters)
      ? { verdict: 'allow', reason: '' }
      : { verdict: 'no-opinion', reason: '' }
  },
})

function describeMissing(messages: readonly string[]): string {
  const [only, ...more] = [...new Set(messages)]
  return more.length === 0 ? `${only}` : `[${[only, ...more].join(', ')}]`
}
