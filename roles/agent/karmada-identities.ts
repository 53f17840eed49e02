import { StatusError, isStatusError } from '@skerry/api'
import { ExpectedError, messageOf } from '@skerry/base'
import type { Cluster } from '@skerry/client'
import { deleteKarmadaRights } from '@skerry/membership'
import { virtualIdOf } from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AgentIdentity } from './agent-identity.ts'
import {
  createChildIdentities,
  isRegistered,
  type AskingChild,
  type ChildIdentities,
} from './child-identities.ts'
import { openKarmadaIdentity, type KarmadaIdentityOptions } from './karmada-identity.ts'

export interface KarmadaIdentitiesOptions extends KarmadaIdentityOptions {
  /** In which the whole cluster's identity is kept, and theirs beside it. */
  identitySecret?: string | undefined
}

/** A token that has run out is not tried again with each request; another one is found within this. */
const retryMs = 15_000

/** Who the agent is at Karmada for each virtual cluster: there a token registers each by itself. */
export function createKarmadaIdentities(
  options: KarmadaIdentitiesOptions,
  parts: { readonly local: Cluster; readonly parent: AgentIdentity },
  context: RoleContext,
): ChildIdentities {
  const { authorityPem } = parts.parent
  const obtain = async (child: AskingChild, scope: RoleContext): Promise<AgentIdentity> => {
    const asked = {
      ...options,
      directory: child.directory,
      clusterName: child.name,
      authorityPem,
      readClusterId: async (signal: AbortSignal) =>
        virtualIdOf(await options.readClusterId(signal), child.name),
    }
    try {
      return await openKarmadaIdentity(asked, scope)
    } catch (error) {
      throw await explained(error, child)
    }
  }
  const { directory, identitySecret } = options
  const own = { directory, identitySecret, retryMs, replacesRefused: false, obtain }
  return createChildIdentities({ ...own, giveUp: deleteKarmadaRights }, parts, context)
}

/**
 * Who has never got a certificate has nothing at Karmada, so its requests find nothing: its group can
 * still be deleted. Whose has run out waits for a token with what it has there.
 */
async function explained(error: unknown, { directory }: AskingChild): Promise<unknown> {
  const isLeftOut = error instanceof ExpectedError || isStatusError(error, 'Unauthorized')
  if (!isLeftOut || (await isRegistered(directory))) return error
  const why = messageOf(error)
  return new StatusError('NotFound', why, { cause: error })
}
