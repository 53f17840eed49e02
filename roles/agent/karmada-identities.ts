import { StatusError, isStatusError } from '@skerry/api'
import { ExpectedError, messageOf } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
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
import { agentBounds } from './limits-table.ts'

export interface KarmadaIdentitiesOptions extends KarmadaIdentityOptions {
  /** The Secret that keeps the whole cluster's identity and those of its virtual clusters. */
  identitySecret?: string | undefined
}

const { retryMs } = agentBounds.karmadaIdentities

/**
 * Creates the agent's identities at Karmada, one for each virtual cluster: there each registers on its own
 * with a token.
 */
export function createKarmadaIdentities(
  options: KarmadaIdentitiesOptions,
  parts: { readonly local: ClusterClient; readonly parent: AgentIdentity },
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
 * Explains an error of a virtual cluster without an identity. If it never had a certificate, it has nothing
 * at Karmada, so NotFound lets its group be deleted. If its certificate has expired, it waits for a token,
 * and so do its objects there.
 */
async function explained(error: unknown, { directory }: AskingChild): Promise<unknown> {
  const isLeftOut = error instanceof ExpectedError || isStatusError(error, 'Unauthorized')
  if (!isLeftOut || (await isRegistered(directory))) return error
  const why = messageOf(error)
  return new StatusError('NotFound', why, { cause: error })
}
