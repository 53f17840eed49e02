import { messageOf } from '@skerry/base'
import type { AccessCheck, CheckAnswers, CheckedDecision } from '@skerry/kinds'
import type { Attributes, Authorizer, UserInfo } from '../contract/access.ts'
import { apiServerBounds } from '../limits-table.ts'

/**
 * Reports that an expression asked for a check whose answer is not known yet. The caller waits for
 * the answer and evaluates again.
 */
class PendingCheck extends Error {
  override name = 'PendingCheck'
  readonly check: AccessCheck

  constructor(check: AccessCheck) {
    super('the authorizer has not answered yet')
    this.check = check
  }
}

const { checksMax } = apiServerBounds.authorizerSession

/**
 * Bridges synchronous expressions and asynchronous authorizers. A check is answered from earlier
 * answers; a new one throws PendingCheck, is sent to the authorizer, and the evaluation starts
 * over.
 */
export class AuthorizerSession implements CheckAnswers {
  readonly user: UserInfo
  readonly #authorizer: Authorizer
  readonly #known = new Map<string, CheckedDecision>()

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer
    this.user = user
  }

  decide(check: AccessCheck): CheckedDecision {
    const known = this.#known.get(JSON.stringify(check))
    if (known) return known
    throw new PendingCheck(check)
  }

  /** Runs `work`, possibly several times, so it must have no side effects. */
  async settle<T>(work: () => T): Promise<T> {
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!(error instanceof PendingCheck) || this.#known.size >= checksMax) throw error
        await this.#ask(error.check)
      }
    }
  }

  async #ask(check: AccessCheck): Promise<void> {
    const key = JSON.stringify(check)
    try {
      const decision = await this.#authorizer.authorize(attributesOf(check))
      this.#known.set(key, { ...decision, error: '' })
    } catch (error) {
      const why = messageOf(error)
      this.#known.set(key, { verdict: 'no-opinion', reason: '', error: why })
    }
  }
}

function attributesOf({ user, verb, path, question }: AccessCheck): Attributes {
  if (!question) return { user, verb, isResourceRequest: false, path }
  const { group, resource, ...rest } = question
  const asked = { group, version: '*', resource }
  return { user, verb, isResourceRequest: true, resource: asked, path, ...rest }
}
