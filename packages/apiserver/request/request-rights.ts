import type { Attributes, Authorizer } from '../contract/access.ts'
import type { RequestRights } from '../contract/authorized-request.ts'
import { forbidden } from '../authz/authorizer-chain.ts'

/** `isStillIn` asks about the request's own verb, together with every further verb that was required. */
export function createRequestRights(
  own: () => Attributes,
  authorizer: Authorizer,
  isStillIn: () => Promise<void>,
): RequestRights {
  const verbs = new Set<string>()
  const requireVerb = async (verb: string): Promise<void> => {
    const asked = own()
    // The request was admitted with it.
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

/** Throws Forbidden, or the error that kept an authorizer from deciding. */
export async function requireRight(asked: Attributes, authorizer: Authorizer): Promise<void> {
  const { verdict, reason, error } = await authorizer.authorize(asked)
  if (verdict === 'allow') return
  throw error ?? forbidden(asked, reason)
}
