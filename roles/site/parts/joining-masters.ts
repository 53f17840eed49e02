import type { SitePart } from '../contract/site-part.ts'
import type { EmbeddedEtcd } from '../etcd/start-embedded.ts'
import { keysAuthorizer } from '../etcd/keys-authorizer.ts'

/** Lets further masters join, and runs and watches this one's etcd. */
export function joiningMasters({ fault, tasks }: EmbeddedEtcd): SitePart {
  return {
    healthChecks: { 'etcd-members': async () => fault() },
    access: () => ({ authorizers: [keysAuthorizer] }),
    tasks: () => tasks,
  }
}
