import type { Attributes, Authorizer } from './access.ts'
import { forbidden } from './authz/authorizer-chain.ts'

/** What one request may do beside its own verb, and whether it still may. */
export interface RequestRights {
  /** Throws Forbidden unless the user may also do this verb; for what does more than its own verb says. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Throws Unauthorized or Forbidden when the request would not be let in now. */
  readonly mayGoOn: () => Promise<void>
}

/** `isStillIn` asks about the request's own verb; every further verb that was asked for is asked with it. */
export function createRequestRights(
  own: () => Attributes,
  authorizer: Authorizer,
  isStillIn: () => Promise<void>,
): RequestRights {
  const verbs = new Set<string>()
  const requireVerb = async (verb: string): Promise<void> => {
    const asked = own()
    // The request was let in with it.
    if (verb === asked.verb) return
    await requireRight({ ...asked, verb }, authorizer)
    verbs.add(verb)
  }
  const mayGoOn = async (): Promise<void> => {
    await isStillIn()
    for (const verb of verbs) await requireVerb(verb)
  }
  return { requireVerb, mayGoOn }
}

/** Throws Forbidden, or what kept an authorizer from deciding. */
export async function requireRight(asked: Attributes, authorizer: Authorizer): Promise<void> {
  const { verdict, reason, error } = await authorizer.authorize(asked)
  if (verdict === 'allow') return
  throw error ?? forbidden(asked, reason)
}
