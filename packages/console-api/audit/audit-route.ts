import { StatusError } from '@skerry/api'
import type { Route } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { UserPlaces } from '../request/user-places.ts'
import { consoleBounds } from '../limits-table.ts'
import { readAuditQuery } from './audit-query.ts'
import { searchAudit } from './search-audit.ts'

const auditPath = '/hub/v1/audit'

export interface AuditRouteDeps {
  /** The audit log of this replica. */
  readonly file: string
  /** This replica's id; undefined if there is only one. */
  readonly replica: () => string | undefined
  readonly clock: Pick<Clock, 'monotonicMs'>
}

const { perUserMax } = consoleBounds.auditSearch

/**
 * Serves the audit log of this replica, the newest lines first. Only RBAC allows reading it: GET of this path as a
 * nonResourceURL, which administrators have.
 */
export function auditRoute({ file, replica, clock }: AuditRouteDeps): Route {
  const places = new UserPlaces({ name: 'searches of the audit log', perUserMax })
  return {
    prefix: auditPath,
    matches: ({ path }) => path === auditPath,
    async serve({ info, user, signal }) {
      if (info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const query = readAuditQuery(info.query)
      using _place = places.take(user.name)
      const { lines, cutMs } = await searchAudit(file, query, clock, signal)
      const cut = cutMs === undefined ? null : new Date(cutMs).toISOString()
      const head = `{"replica":${JSON.stringify(replica() ?? '')},"cutAt":${JSON.stringify(cut)}`
      return {
        status: 200,
        headers: {
          'content-type': 'application/json',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
        body: Buffer.from(`${head},"events":[${lines.join(',')}]}\n`),
      }
    },
  }
}
