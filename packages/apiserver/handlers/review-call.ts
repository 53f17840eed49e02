import type { ApiAnswer } from '../contract/exchange.ts'
import type { ReviewHandler } from '../contract/review.ts'
import { methodNotAllowed } from '../contract/status-answer.ts'
import { negotiate, reviewOffer, wantsPretty } from '../http/negotiate.ts'
import { admit, admitValid } from '../registry/admission-chain.ts'
import { trackCreate } from '../registry/managed-fields.ts'
import type { RequestDeps } from '../registry/request-scope.ts'
import { valueAnswer } from './represent.ts'
import { parseWriteOptions } from './request-options.ts'
import { decodeBodyOf, scopeOf, type ResourceCall } from './resource-call.ts'

/** Answers a create of a kind that is never stored. */
export async function serveReview(
  review: ReviewHandler,
  call: ResourceCall,
  deps: RequestDeps,
): Promise<ApiAnswer> {
  const { info, user, signal } = call
  const { headers } = call.request
  if (info.verb !== 'create' || info.name !== '') throw methodNotAllowed()
  const options = parseWriteOptions(info, headers['user-agent'])
  const object = await decodeBodyOf(call, options, deps)
  const scope = scopeOf(call, options)
  trackCreate(object, scope, deps)
  const { namespace, isDryRun } = scope
  const name = object.metadata.name ?? ''
  const input = { operation: 'CREATE', object, oldObject: undefined, name } as const
  await admit(input, scope, deps)
  const admitted = () => admitValid(input, scope, deps)
  const request = { object, namespace, user, isDryRun, admitValid: admitted, signal }
  const answer = await review.review(request)
  const isPretty = wantsPretty(info.query, headers['user-agent'])
  return valueAnswer(201, answer, negotiate(headers['accept'], isPretty, reviewOffer))
}
