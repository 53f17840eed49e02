import { Link } from 'wouter'
import { claimant, policyPage } from '../../data/fleet/policy-names.ts'
import { Facts } from '../../parts/facts.tsx'
import { useTexts } from '../../words/language.ts'
import type { Binding } from './application-rows.ts'
import { ExplanationFault } from './explanation-fault.tsx'
import { PolicyActions } from './policy-actions.tsx'
import { texts as both } from './texts.ts'
import { useExplanation } from './use-explanation.ts'

/** The policy that has claimed the object and those that have not, and the state of its dispatching. */
export function PolicyTab({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const answer = useExplanation(binding.spec.resource)
  const policy = claimant(binding)
  const { claim, scheduled } = answer.data ?? {}
  return (
    <>
      <ExplanationFault answer={answer} />
      <div className="columns">
        <section className="panel">
          <h2>{texts.claim}</h2>
          <Facts
            facts={[
              {
                name: texts.policy,
                value:
                  policy === undefined ? (
                    texts.noPolicy
                  ) : (
                    <Link href={policyPage(policy)}>
                      {policy.kind} {policy.name}
                    </Link>
                  ),
              },
              { name: texts.why, value: claim?.why ?? '–' },
              {
                name: texts.scheduled,
                value: scheduled === undefined ? '–' : `${scheduled.status}: ${scheduled.message}`,
              },
            ]}
          />
          {claim === undefined || claim.others.length === 0 ? undefined : (
            <>
              <h2>{texts.otherPolicies}</h2>
              <Facts
                facts={claim.others.map((other) => ({
                  name: other.policy.name,
                  value: other.why,
                }))}
              />
            </>
          )}
        </section>
        <PolicyActions binding={binding} actions="dispatching" />
      </div>
    </>
  )
}
