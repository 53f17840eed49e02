import { compileExpression, expressionResults, type NamedExpression } from '@skerry/kinds'
import type { Authorizer } from '../contract/access.ts'
import { AuthorizerSession } from '../admission-matching/authorizer-session.ts'
import { matchConditions, type MatchResult } from '../admission-matching/match-conditions.ts'
import type { ReviewSubject } from '../admission-matching/admission-review.ts'
import type { Webhook } from './webhook-source.ts'

const compiledConditions = new WeakMap<Webhook, readonly NamedExpression[]>()

/** A webhook's conditions are compiled when they are first needed. */
export function conditionsOf(
  webhook: Webhook,
  subject: ReviewSubject,
  authorizer: Authorizer,
): Promise<MatchResult> {
  const conditions = compiledConditions.get(webhook) ?? compile(webhook)
  compiledConditions.set(webhook, conditions)
  const session = new AuthorizerSession(authorizer, subject.request.user)
  return session.settle(() =>
    matchConditions(conditions, { subject, session }, webhook.isFailureIgnored),
  )
}

function compile({ matchConditions: conditions }: Webhook): readonly NamedExpression[] {
  const declared = { hasParams: false, hasAuthorizer: true }
  return conditions.map(({ name, expression }) => ({
    name,
    compiled: compileExpression(declared, expression, expressionResults.condition),
  }))
}
